import type { TextRequest } from '#contracts';
import type { ModelLimits } from '#providers';
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

/** The shortest reply that is worth beginning when the caller names no limit and the balance is low, in tokens. */
const LEAST_OUTPUT_TOKENS = 1_024;

/** How much a request may write: how many replies, and of each what is thought beside the limit, the most and the least. */
export function outputOf<Body>({ codec, body }: TextOrder<Body>, { maxOutputTokens }: ModelLimits) {
  const limit = codec.outputLimit(body);
  const needed = Math.max(0, codec.thinkingBudget(body) ?? 0) + LEAST_OUTPUT_TOKENS;
  return {
    limit,
    replies: codec.replies?.(body) ?? 1,
    beside: codec.thinkingBesideLimit?.(body) ?? 0,
    most: limit ?? Math.max(maxOutputTokens, needed),
    least: limit ?? Math.min(maxOutputTokens, needed),
  };
}

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
