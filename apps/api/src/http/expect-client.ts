import type { ServerResponse } from 'node:http';
import { GatewayError } from '#contracts';

/**
 * Asked before work begins that cannot be given up any more, or that asks for its client's leaving from then on alone: a client that has
 * sent a large body can be gone before it is read, and the memory of the body is given back with it.
 *
 * @throws GatewayError `request_timeout`, which nobody reads.
 */
export function expectClient(answer: ServerResponse): void {
  if (answer.destroyed)
    throw new GatewayError('request_timeout', 'The client left before anything was done for its request.');
}
