import type { Upstream } from '../tests/harness/text-vendor/text-gateway.js';
import { eventually } from '#testing';
import { type Agent, LIMIT_MS, runIn, session } from './agent.js';
import { makePlace } from './run-cli.js';
import { LAST_WORDS, scriptedSession } from './scripted-session.js';

const FIRST_PROMPT = 'This is session one.';
const OTHER_PROMPT = 'This is session two.';

/** The upstream of a session, and the one of another protocol at which it is resumed. */
export type Resumption = readonly [Upstream, Upstream];

/**
 * From each protocol to another. None is resumed over chat: some clients drop the reasoning of another model whole, and
 * whether a vendor requires some before old calls is configured by its operator (`translation.reasoning`).
 */
const EVERY_RESUMPTION: readonly Resumption[] = [
  ['messages', 'responses'],
  ['gemini', 'responses'],
  ['chat', 'messages'],
  ['responses', 'gemini'],
];

/** Tests sessions that are resumed, interrupted, or not alone. */
export function itGoesOn(agent: Agent, resumptions = EVERY_RESUMPTION): void {
  it.each(resumptions)(
    'resumes a session over %s over %s',
    (first, later) => resume(agent, first, later),
    2 * LIMIT_MS,
  );
  it('keeps two sessions at once apart', () => atOnce(agent), LIMIT_MS);
  it('is interrupted, and what it asked is settled', () => interrupt(agent), LIMIT_MS);
}

async function resume({ path, steps, setUp, gateway }: Agent, first: Upstream, later: Upstream): Promise<void> {
  const { vendor } = gateway();
  const place = await makePlace();
  const [one, other] = [setUp(first, gateway()), setUp(later, gateway())];
  vendor.script = scriptedSession([steps[0], ...steps.slice(1, 2)]);
  const began = await runIn(place, path, one, one.asking(FIRST_PROMPT));
  vendor.script = scriptedSession(steps.slice(1, 3));
  const went = await runIn(place, path, other, other.resuming(OTHER_PROMPT));
  const notes = await place.notes();
  await place.remove();
  expect([began.code, went.code, went.output]).toEqual([0, 0, expect.stringContaining(LAST_WORDS)]);
  const last = vendor.seen.findLast(({ body }) => body['tools']);
  expect([notes, last?.text]).toEqual(['changed\n', expect.stringContaining(FIRST_PROMPT)]);
}

async function atOnce(agent: Agent): Promise<void> {
  const { vendor } = agent.gateway();
  const [changing, idle] = [scriptedSession(agent.steps.slice(1, 3)), scriptedSession(agent.steps.slice(1, 2))];
  vendor.script = (request) => (vendor.last.text.includes(FIRST_PROMPT) ? changing : idle)(request);
  const [one, other] = await Promise.all([
    session(agent, 'messages', FIRST_PROMPT),
    session(agent, 'chat', OTHER_PROMPT),
  ]);
  expect([one.code, one.notes, other.code, other.notes]).toEqual([0, 'changed\n', 0, 'the first line\n']);
}

async function interrupt({ path, steps, setUp, gateway }: Agent): Promise<void> {
  const over = gateway();
  const { vendor } = over;
  vendor.script = scriptedSession(steps);
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  vendor.gate = { at: 'middle', opened };
  const asked = vendor.seen.length;
  const setup = setUp('messages', over);
  const place = await makePlace();
  const isAsked = eventually(() => vendor.seen.length > asked);
  const { output } = await runIn(place, path, setup, setup.asking(FIRST_PROMPT), isAsked);
  await over.untilAnswered();
  open();
  vendor.gate = undefined;
  await over.settled();
  await place.remove();
  expect(output).not.toContain(LAST_WORDS);
}
