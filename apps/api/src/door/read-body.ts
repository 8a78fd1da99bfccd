import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '#contracts';
import type { BodyBudget } from './body-budget.js';

/** Bodies up to this many bytes are held without asking: connections bound them, and most requests are smaller. */
const UNCOUNTED_BYTES = 64 * 1024;

/** When to send a body again that there was no room for, in milliseconds. */
const RETRY_AFTER_MS = 2_000;

/** What bounds a body. */
export interface BodyBounds {
  /** Of one body. */
  readonly maxBytes: number;
  /** Of all bodies together. */
  readonly budget: BodyBudget;
}

/**
 * The bytes of a request's body. One that is too large is read to its end all the same, without being held: a client
 * that is still writing would take an early answer for a broken connection.
 *
 * @throws GatewayError `request_too_large`; `overloaded` when all bodies together are too large; `invalid_json` when the
 * client left before the end.
 */
export function readBody(
  request: IncomingMessage,
  answer: ServerResponse,
  { maxBytes, budget }: BodyBounds,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let bytes = 0;
    let refusal: GatewayError | undefined;
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > maxBytes) refusal = tooLarge(maxBytes);
      else if (bytes > UNCOUNTED_BYTES && !budget.grow(answer, bytes)) refusal = noRoom();
      if (!refusal) return;
      chunks = [];
      budget.giveBack(answer);
      request.off('data', take).resume();
    };
    request.on('data', take);
    request.once('end', () => (refusal ? reject(refusal) : resolve(joined(chunks))));
    request.once('error', (cause) => {
      reject(new GatewayError('invalid_json', 'The body broke off before its end.', { cause }));
    });
  });
}

const tooLarge = (maxBytes: number): GatewayError =>
  new GatewayError('request_too_large', `The body is larger than the ${maxBytes} bytes allowed.`);

const noRoom = (): GatewayError =>
  new GatewayError('overloaded', 'Too many large requests arrive at the moment; send this one again shortly.', {
    retryAfterMs: RETRY_AFTER_MS,
  });

/** Most bodies come in one piece, which need not be copied. */
const joined = (chunks: readonly Buffer[]): Buffer =>
  chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
