import type { ServerResponse } from 'node:http';
import { GatewayError } from '#contracts';

/** Aborts when the client closes the connection before its answer is complete; aborted already where it has. */
export function clientGone(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (response.destroyed) gone.abort();
  else response.once('close', () => gone.abort());
  return gone.signal;
}

/**
 * Refuses to begin work for a client that has already left: one that sent a large body can be gone before the body is read, and no event
 * tells of that afterwards.
 *
 * @throws GatewayError `request_timeout`, which nobody reads.
 */
export function expectClient(answer: ServerResponse): void {
  if (answer.destroyed)
    throw new GatewayError('request_timeout', 'The client left before anything was done for its request.');
}
