import { GatewayError } from '#contracts';
import type { ReplyHead } from './reply-head.js';

/** A reply that an upstream made, and that is larger, or comes in more pieces, than is read. */
export class ReplyTooLarge extends GatewayError {
  constructor(
    /** What it began with, where that is known. */
    readonly head?: ReplyHead,
    /** What is too much of it, as it follows "a reply that". */
    fault = 'is too large',
  ) {
    super('upstream_error', `The upstream sent a reply that ${fault}.`);
  }
}
