import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ALLOWED_EVERY_MS, isRefusal } from '../../http/api-key.guard.js';
import { STALL_MS } from '../../http/serialized-body.js';
import type { Transfer } from './open-transfers.js';

/** What is sent as this answer, for others to count and to end. */
export function sentOver(response: ServerResponse): Transfer {
  const written = (): number => response.socket?.bytesWritten ?? 0;
  // The connection may have carried other answers before.
  const before = written();
  return { bytes: () => written() - before, cut: () => response.destroy() };
}

interface SendingBounds {
  readonly stallMs?: number;
  /** @throws GatewayError: whoever asked may not read it any more. Absent: it is for everybody who has its link. */
  readonly expectAllowed?: (() => Promise<void>) | undefined;
  readonly allowedEveryMs?: number;
}

/**
 * Sends a file no faster than its client reads; one that reads nothing is cut off, and so is one that may not read it any more. A
 * client that leaves ends it, and a store that fails breaks the answer off in the middle.
 */
export async function sendFile(
  content: Readable,
  response: ServerResponse,
  { stallMs = STALL_MS, expectAllowed, allowedEveryMs = ALLOWED_EVERY_MS }: SendingBounds = {},
): Promise<void> {
  if (response.req.method === 'HEAD') {
    // Node drops what is written as such an answer at once: the file would be read whole, as fast as the store sends it.
    content.destroy();
    response.end();
    return;
  }
  // The time of a connection begins again whenever something of what waits is read.
  response.setTimeout(stallMs, () => response.destroy());
  const cut = (error: unknown): void => {
    if (isRefusal(error)) response.destroy();
  };
  const asking = expectAllowed && setInterval(() => void expectAllowed().catch(cut), allowedEveryMs);
  await pipeline(content, response).catch(() => undefined);
  clearInterval(asking);
}
