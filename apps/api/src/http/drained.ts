import type { Response } from 'express';

/**
 * Resolves when the client has read on, or has left, or is cut off because it does neither for `stallMs`. Listens for no
 * longer than that: a slow client makes many waits.
 */
export function drained(response: Response, stallMs: number): Promise<void> {
  return new Promise((resolve) => {
    const stalled = setTimeout(() => response.destroy(), stallMs);
    const done = (): void => {
      clearTimeout(stalled);
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}
