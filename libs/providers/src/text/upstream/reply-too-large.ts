import { GatewayError } from '#contracts';

/** A reply that an upstream made, and that is larger than is read. */
export class ReplyTooLarge extends GatewayError {
  constructor() {
    super('upstream_error', 'The upstream sent a reply that is too large.');
  }
}
