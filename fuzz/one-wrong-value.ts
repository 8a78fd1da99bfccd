import { isAllowed, requestTo, type Senders, withIds } from './target-request.js';
import { Random } from './random.js';
import { OPERATOR_TARGETS } from './operator-targets.js';
import { TARGETS } from './targets.js';

/** An empty list in a list, which checks of every item of a list pass over, and what no text can be made of. */
export const UNREADABLE_VALUES: readonly unknown[] = [[[]], { toString: 1 }];

/** Values that a check for a missing field, or a missing check, often lets through to code that cannot take them. */
export const WRONG_VALUES: readonly unknown[] = [
  null,
  '',
  ' ',
  'x',
  0,
  -1,
  0.5,
  1e300,
  true,
  false,
  [],
  {},
  [null],
  [{}],
  { a: null },
  ...UNREADABLE_VALUES,
  '\u0000',
  '\ud800',
];

/** What was sent, and the answer that nobody may get. */
interface WrongAnswer {
  readonly to: string;
  readonly body: string;
  readonly status: number;
}

/** Sends each route its good body with one of its values replaced, each of them by each of `values`. */
export async function sendOneWrongValue(baseUrl: string, senders: Senders, values: readonly unknown[]) {
  const wrong: WrongAnswer[] = [];
  const statuses: Record<number, number> = {};
  const random = new Random(1);
  for (const target of withIds([...TARGETS, ...OPERATOR_TARGETS], senders.people.ids)) {
    await Promise.all(
      [...replacedOnce(target.good, values)].map(async (sent) => {
        const body = JSON.stringify(sent);
        const { path, ...request } = requestTo(target, Buffer.from(body), senders, random);
        const answer = await fetch(baseUrl + path, request);
        await answer.arrayBuffer();
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
        if (!isAllowed(answer.status)) wrong.push({ to: `${request.method} ${path}`, body, status: answer.status });
      }),
    );
  }
  return { wrong, statuses };
}

/** Sends each route its good body, one after the other. @returns those that were refused for what they say. */
export async function refusedGoodBodies(baseUrl: string, senders: Senders): Promise<string[]> {
  const refused: string[] = [];
  for (const target of withIds([...TARGETS, ...OPERATOR_TARGETS], senders.people.ids)) {
    const body = Buffer.from(JSON.stringify(target.good));
    const { path, ...request } = requestTo(target, body, senders, new Random(1));
    const answer = await fetch(baseUrl + path, request);
    await answer.arrayBuffer();
    if (answer.status >= 400 && answer.status !== 404 && answer.status !== 409)
      refused.push(`${answer.status} ${target.method} ${path.replace(/resp_\w+/, '{response}')}`);
  }
  return refused;
}

/** The value with each part of it, itself too, replaced by each of `values`, one at a time. */
function* replacedOnce(good: unknown, values: readonly unknown[]): Generator {
  yield* values;
  if (Array.isArray(good))
    for (const [index, item] of good.entries())
      for (const replaced of replacedOnce(item, values)) yield good.with(index, replaced);
  else if (typeof good === 'object' && good !== null)
    for (const [key, value] of Object.entries(good))
      for (const replaced of replacedOnce(value, values)) yield { ...good, [key]: replaced };
}
