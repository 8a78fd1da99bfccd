import type { Response } from 'express';
import { EVENT_STREAM, type NamedData } from '#features';
import { jsonBytes } from '#platform';
import { drained } from './drained.js';
import { STALL_MS } from './serialized-body.js';

/** Writes events that are all there, no faster than the client reads them; one that reads nothing is cut off. */
export async function writeEvents(response: Response, events: readonly NamedData[], stallMs = STALL_MS): Promise<void> {
  response.writeHead(response.statusCode, { 'content-type': EVENT_STREAM, 'cache-control': 'no-store' });
  for (const { name, data } of events) {
    for (const piece of [`event: ${name}\ndata: `, ...(await jsonBytes(data)), '\n\n']) {
      if (response.destroyed) return;
      if (!response.write(piece)) await drained(response, stallMs);
    }
  }
}
