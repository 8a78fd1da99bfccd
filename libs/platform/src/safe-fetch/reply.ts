import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { boundedBody, tooLarge } from './bounded-body.js';
import { FetchRefused } from './fetch-errors.js';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Where a reply sends its reader: an address, or words that are none; undefined when it is no redirect. */
export function redirectTarget(reply: Dispatcher.ResponseData, from: URL): string | undefined {
  const location = [reply.headers.location].flat()[0];
  if (!REDIRECTS.has(reply.statusCode) || location === undefined) return undefined;
  return URL.canParse(location, from.href) ? new URL(location, from).href : location;
}

/**
 * A reply whose body flows to its reader, `maxBytes` at most.
 *
 * @throws FetchRefused when the body is compressed or announces more bytes; the reply is ended then.
 */
export function acceptBody(
  reply: Dispatcher.ResponseData,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal | undefined },
): { readonly status: number; readonly headers: Dispatcher.ResponseData['headers']; readonly body: Readable } {
  const encoding = String(reply.headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding !== 'identity' && encoding !== '') {
    discard(reply.body);
    throw new FetchRefused('content_encoding', 'the host sends a compressed body although none was asked for');
  }
  if (Number(reply.headers['content-length'] ?? 0) > maxBytes) {
    discard(reply.body);
    throw tooLarge(maxBytes);
  }
  return { status: reply.statusCode, headers: reply.headers, body: boundedBody(reply.body, maxBytes, signal) };
}

/** Ends an answer that will not be read; its late errors are ignored. */
export function discard(body: Readable): void {
  body.on('error', () => undefined);
  body.destroy();
}
