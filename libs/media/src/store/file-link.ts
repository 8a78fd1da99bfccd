import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '#contracts';
import { lruCache } from '#platform';
import { checkMediaKey } from './media-key.js';

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

/** Path under which a gateway answers its own file links. */
const FILES_PATH = '/files/';

/** What a link's signature says. `expiresAt` is in Unix seconds, `null` for a link that stays. */
type LinkVerdict =
  | { readonly kind: 'valid'; readonly expiresAt: number | null }
  | { readonly kind: 'expired' }
  | { readonly kind: 'forged' };

interface LinkSecret {
  readonly id: string;
  readonly secret: Buffer;
}

const NO_EXPIRY = 'never';

/** Links whose signatures are kept: whoever lists or polls finished tasks is shown the same ones again and again. */
const KEPT_SIGNATURES_MAX = 20_000;

/**
 * Signs and checks the gateway's own file links: `/files/<key>?e=<Unix seconds or never>&k=<secret id>&s=<HMAC-SHA256>`.
 * The first secret signs; all of them are accepted, so a secret is changed by putting a new one in front and dropping
 * the old one once its links may die. The id is derived from the secret, so there is nothing else to keep.
 */
export class LinkSigner {
  private readonly current: LinkSecret;
  private readonly accepted: ReadonlyMap<string, Buffer>;
  /** By expiry and key. */
  private readonly signatures = lruCache<string, string>(KEPT_SIGNATURES_MAX);

  /** @throws RangeError when there is no secret, or one has fewer than 16 bytes. */
  constructor(
    secrets: readonly Buffer[],
    private readonly now: () => number = Date.now,
  ) {
    if (secrets.some((secret) => secret.length < 16)) throw new RangeError('a link secret has at least 16 bytes');
    const named = secrets.map((secret) => ({ id: secretId(secret), secret }));
    const [current] = named;
    if (!current) throw new RangeError('at least one link secret is needed');
    this.current = current;
    this.accepted = new Map(named.map(({ id, secret }) => [id, secret]));
  }

  /** The path and query of a link, beginning with `/files/`. @throws MediaStoreError `invalid_key`. */
  sign(key: string, ttlSeconds: number | null): string {
    const expiry = ttlSeconds === null ? NO_EXPIRY : String(Math.floor(this.now() / 1000) + ttlSeconds);
    return `${FILES_PATH}${key}?e=${expiry}&k=${this.current.id}&s=${this.signature(key, expiry)}`;
  }

  private signature(key: string, expiry: string): string {
    const name = `${expiry} ${key}`;
    const kept = this.signatures.get(name);
    if (kept !== undefined) return kept;
    checkMediaKey(key);
    const made = authenticate(this.current.secret, key, expiry).toString('base64url');
    this.signatures.set(name, made);
    return made;
  }

  /** Judges a link; an expiry is looked at only after the signature proved to be ours. */
  verify(key: string, query: URLSearchParams): LinkVerdict {
    const expiry = query.get('e') ?? '';
    const secret = this.accepted.get(query.get('k') ?? '');
    if (!secret) return { kind: 'forged' };
    const expected = authenticate(secret, key, expiry);
    const given = Buffer.from(query.get('s') ?? '', 'base64url');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return { kind: 'forged' };
    if (expiry === NO_EXPIRY) return { kind: 'valid', expiresAt: null };
    const expiresAt = Number(expiry);
    return expiresAt * 1000 > this.now() ? { kind: 'valid', expiresAt } : { kind: 'expired' };
  }
}

function authenticate(secret: Buffer, key: string, expiry: string): Buffer {
  return createHmac('sha256', secret).update(`file-link-1\n${key}\n${expiry}`).digest();
}

function secretId(secret: Buffer): string {
  return createHash('sha256').update('file-link-id\n').update(secret).digest('hex').slice(0, 8);
}
