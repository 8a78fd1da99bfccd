import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import send from 'send';
import { GatewayError } from '#contracts';
import { noSuchFile, type FileLink } from './file-link.js';

const YEAR_SECONDS = 31_536_000;
/** A client that reads nothing of a file for so long is cut off, in milliseconds. */
const STALL_MS = 60_000;

/**
 * Sends a file of the folder with Range, If-Range, ETag, 304 and HEAD. The browser may neither guess another type nor
 * run anything in it, and pages of any origin may show it: the link alone is enough to have the file.
 *
 * @throws GatewayError `not_found`, `range_not_satisfiable` or `internal_error`, before anything was written.
 */
export async function sendLocalFile(
  request: IncomingMessage,
  response: ServerResponse,
  { root, key, expiresAt, stallMs = STALL_MS }: FileLink & { root: string; stallMs?: number },
): Promise<void> {
  const maxAgeSeconds = expiresAt === null ? YEAR_SECONDS : Math.max(0, Math.floor(expiresAt - Date.now() / 1000));
  const headersBefore = new Set(response.getHeaderNames());
  const stream = send(request, key, { root, dotfiles: 'deny', cacheControl: false, index: false });
  stream.on('headers', (headers: ServerResponse) => {
    headers.setHeader('x-content-type-options', 'nosniff');
    headers.setHeader('content-security-policy', "default-src 'none'; sandbox");
    headers.setHeader('cache-control', `private, max-age=${maxAgeSeconds}`);
    headers.setHeader('access-control-allow-origin', '*');
    headers.setHeader('cross-origin-resource-policy', 'cross-origin');
  });
  await new Promise<void>((resolve, reject) => {
    stream.on('error', (error: Error & { status?: number; headers?: Record<string, string> }) => {
      if (response.headersSent) {
        response.destroy(error);
        return;
      }
      // The error is written elsewhere: it must not carry the file's own headers.
      for (const name of response.getHeaderNames()) if (!headersBefore.has(name)) response.removeHeader(name);
      reject(asGatewayError(error));
    });
    stream.on('directory', () => reject(noSuchFile()));
    response.setTimeout(stallMs, () => response.destroy());
    // A client that goes away in the middle is no failure of ours.
    finished(response).then(resolve, () => resolve());
    stream.pipe(response);
  });
}

function asGatewayError(error: Error & { status?: number; headers?: Record<string, string> }): GatewayError {
  if (error.status === 416)
    return new GatewayError('range_not_satisfiable', 'The requested range lies outside the file.', {
      ...(error.headers && { headers: error.headers }),
      cause: error,
    });
  if (error.status !== undefined && error.status < 500) return noSuchFile(error);
  return new GatewayError('internal_error', 'The file could not be read.', { log: error.message, cause: error });
}
