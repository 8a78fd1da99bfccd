import type { Response } from 'express';

/** Aborts when the client closes the connection before its answer is complete. */
export function clientGone(response: Response): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}
