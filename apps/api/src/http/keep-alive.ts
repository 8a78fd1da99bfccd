import type { Request, Response } from 'express';
import { isJsonObject } from '#contracts';
import { JSON_TYPE } from './serialized-body.js';

/** How often a blank is sent once the answer has begun, in milliseconds. */
const BLANK_EVERY_MS = 15_000;

const begun = new WeakSet<Response>();

/** Whether blanks have begun the answer: its status is said, and its body, be it an error, is still to come. */
export const isKeptAlive = (response: Response): boolean => begun.has(response);

/** Whether the client asks for a stream. */
export const isStreamed = ({ path, body }: Request): boolean =>
  path.endsWith(':streamGenerateContent') || (isJsonObject(body) && body['stream'] === true);

/**
 * Begins a JSON answer with blanks, which parsers skip, when it takes longer than `afterMs`; 0: never. Proxies and clients give up
 * on silent connections. The answered function ends that.
 */
export function keepAlive(response: Response, afterMs: number): () => void {
  if (afterMs === 0) return () => undefined;
  const beat = (): void => {
    if (response.closed || (response.headersSent && !begun.has(response))) return;
    if (!response.headersSent) response.writeHead(200, { 'content-type': JSON_TYPE });
    begun.add(response);
    if (!response.writableNeedDrain) response.write(' ');
    timer = setTimeout(beat, BLANK_EVERY_MS);
  };
  let timer = setTimeout(beat, afterMs);
  return () => clearTimeout(timer);
}
