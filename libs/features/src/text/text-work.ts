import type { TextRequest } from '#contracts';
import type { CallerPresence } from './caller-presence.js';
import type { Exchange } from './text-exchange.js';
import type { TextOrder } from './text-order.js';
import type { RoutedReply } from './text-router.js';
import type { ReplyContext } from './text-style-codec.js';

/** A request that may be answered: what it costs is held, or will be before anybody is asked. */
export interface TextWork<Body> {
  readonly context: ReplyContext<Body>;
  readonly exchange: Exchange;
  /** Finds who replies, and waits for the first sign of it. */
  readonly route: () => Promise<RoutedReply>;
}

/** Other work runs between the steps of a larger request, in bytes. */
const LARGE_BYTES = 256 * 1024;

/** Each look through what so many bytes hold may take some ten milliseconds; of resolved references nobody knows their number. */
export const isLarge = ({ bytes }: TextOrder<unknown>): boolean => bytes === undefined || bytes.length > LARGE_BYTES;

export function contextOf<Body>(
  { requestId, model, sentBody }: TextOrder<Body>,
  inputTokens: number,
): ReplyContext<Body> {
  const createdSeconds = Math.floor(Date.now() / 1000);
  return { requestId, model, body: sentBody, createdSeconds, estimatedInputTokens: inputTokens, onAnswer: () => {} };
}

/** The output that is to be covered, and the least that is worth beginning, in tokens. */
export const outputWanted = (
  replies: number,
  limit: number | undefined,
  most: number,
  least: number,
): { readonly outputTokens: number; readonly leastOutputTokens: number } => ({
  outputTokens: replies * (limit ?? Math.max(most, least)),
  leastOutputTokens: replies * (limit ?? Math.min(most, least)),
});

export const limited = (request: TextRequest, limit: number | undefined): TextRequest =>
  limit === undefined ? request : { ...request, maxOutputTokens: limit };

/** Stops a request whose caller has left from asking an upstream, which nothing would be charged for. */
export function unlessLeft<T>(caller: CallerPresence, read: () => T): () => T {
  return () => {
    if (caller.hasLeft) throw new Error('the caller has left');
    return read();
  };
}

export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
