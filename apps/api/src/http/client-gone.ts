import type { ServerResponse } from 'node:http';

/** Aborts when the client closes the connection before its answer is complete; aborted already where it has. */
export function clientGone(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (response.destroyed) gone.abort();
  else response.once('close', () => gone.abort());
  return gone.signal;
}
