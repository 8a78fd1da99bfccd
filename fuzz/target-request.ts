import type { People } from './hostile-gateway.js';
import type { Random } from './random.js';
import type { Sender, Target } from './targets.js';

/** What is sent. */
export interface Sent {
  readonly method: Target['method'] | 'GET';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** Who sends, each with the headers of its kind. */
export interface Senders {
  readonly keys: readonly string[];
  readonly people: People;
}

/** Guesses of each address are slowed down: every visitor has one of its own. */
const anyAddress = (random: Random): string => [10, ...[0, 0, 0].map(() => random.below(256))].join('.');

export function headersOf(sender: Sender, { keys, people }: Senders, random: Random): Sent['headers'] {
  if (sender === 'key') return { authorization: `Bearer ${random.pick(keys)}` };
  return sender === 'visitor'
    ? { ...people.headers.visitor, 'x-forwarded-for': anyAddress(random) }
    : people.headers[sender];
}

/** The targets with ids in place of the words in braces. */
export const withIds = (targets: readonly Target[], ids: People['ids']): readonly Target[] =>
  JSON.parse(
    JSON.stringify(targets).replaceAll(/\{(\w+)\}/g, (word, name: string) => ids[name] ?? word),
  ) as readonly Target[];

/** A request to a route with a body in place of its good one. */
export function requestTo(
  { method, path, headers, as = 'key' }: Target,
  body: Buffer,
  senders: Senders,
  random: Random,
): Sent {
  return {
    method,
    path,
    headers: { ...headersOf(as, senders, random), 'content-type': 'application/json', ...headers },
    body,
  };
}

/** Whether a route may answer so to whatever it is sent. 529 is what 503 is called in the messages style. */
export const isAllowed = (status: number): boolean =>
  (status >= 200 && status < 300) || (status >= 400 && status < 500) || status === 503 || status === 529;
