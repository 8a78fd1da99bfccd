import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { STALL_MS } from '../../http/serialized-body.js';

/**
 * Sends a file no faster than its client reads; one that reads nothing is cut off. A client that leaves ends it, and a store
 * that fails breaks the answer off in the middle.
 */
export async function sendFile(content: Readable, response: ServerResponse, stallMs = STALL_MS): Promise<void> {
  // The time of a connection begins again whenever something of what waits is read.
  response.setTimeout(stallMs, () => response.destroy());
  await pipeline(content, response).catch(() => undefined);
}
