import type { IncomingMessage } from 'node:http';
import { GatewayError } from '#contracts';
import { FILES_PATH, type LinkSigner } from './link-signer.js';
import { checkMediaKey } from './media-key.js';

/** A link of ours that may be answered. */
export interface FileLink {
  readonly key: string;
  /** Unix seconds; `null` for a link that stays. */
  readonly expiresAt: number | null;
}

/**
 * Reads a request for one of the gateway's file links.
 *
 * @throws GatewayError `method_not_allowed`, `not_found` (no key), `permission_denied` (forged) or `link_expired`.
 */
export function readLink(request: IncomingMessage & { originalUrl?: string }, signer: LinkSigner): FileLink {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    throw new GatewayError('method_not_allowed', 'Files answer GET and HEAD only.', {
      headers: { allow: 'GET, HEAD' },
    });
  const { key, query } = splitLink(request.originalUrl ?? request.url ?? '');
  const verdict = signer.verify(key, query);
  if (verdict.kind === 'forged')
    throw new GatewayError(
      'permission_denied',
      'The signature of this file link is not valid. Use the link exactly as the task shows it.',
    );
  if (verdict.kind === 'expired')
    throw new GatewayError('link_expired', 'This file link has expired. Get the task again for a fresh one.');
  return { key, expiresAt: verdict.expiresAt };
}

/** The key of a link that begins as the gateway's own do, while it is valid. */
export function keyOfLink(link: string, baseUrl: string, signer: LinkSigner): string | undefined {
  if (!link.startsWith(`${baseUrl.replace(/\/$/, '')}${FILES_PATH}`)) return undefined;
  try {
    const { key, query } = splitLink(link);
    return signer.verify(key, query).kind === 'valid' ? key : undefined;
  } catch {
    // Not a key: whatever it is, it is no link of ours.
    return undefined;
  }
}

function splitLink(address: string): { key: string; query: URLSearchParams } {
  try {
    const url = new URL(address, 'http://gateway');
    const key = decodeURIComponent(url.pathname.startsWith(FILES_PATH) ? url.pathname.slice(FILES_PATH.length) : '');
    checkMediaKey(key);
    return { key, query: url.searchParams };
  } catch (error) {
    throw noSuchFile(error);
  }
}

/** The one answer for a key that cannot be, a file that is not there, and a file that was removed. */
export const noSuchFile = (cause?: unknown): GatewayError =>
  new GatewayError('not_found', 'There is no file at this link.', { cause });

/** @throws RangeError when the time is neither `null` nor a whole number of seconds of at least 1. */
export function checkTtl(ttlSeconds: number | null): void {
  if (ttlSeconds === null || (Number.isSafeInteger(ttlSeconds) && ttlSeconds >= 1)) return;
  throw new RangeError(`ttlSeconds is ${ttlSeconds}; it must be null or a whole number of at least 1`);
}
