import { GatewayError } from '#contracts';
import type { ReplyHead } from './reply-head.js';

/** A reply that an upstream made, and that is larger than is read. */
export class ReplyTooLarge extends GatewayError {
  constructor(
    /** What it began with, where that is known. */
    readonly head?: ReplyHead,
  ) {
    super('upstream_error', 'The upstream sent a reply that is too large.');
  }
}
