import { importPKCS8, SignJWT } from 'jose';
import { isJsonObject, type JsonObject, type JsonValue, MediaFailure } from '#contracts';
import { parseBounded, type SafeFetcher } from '#platform';
import type { Credentials, VendorReply } from '../http/media-codec.js';
import { notableSkewMs, wordsOf } from '../http/failure-rules.js';

/** Where a project makes videos. */
export interface VertexSettings {
  /** Absent: that of the service account. */
  readonly project?: string;
  readonly region: string;
  /** A bucket for finished videos, which keeps the replies small. */
  readonly storageUri?: string;
  readonly storageEndpoint: string;
}

const DEFAULTS = { region: 'us-central1', storage_endpoint: 'https://storage.googleapis.com' } as const;

interface Rule {
  readonly fits: RegExp;
  readonly says: string;
}

const RULES: Readonly<Record<string, Rule>> = {
  project: { fits: /^[a-z][a-z0-9-]{4,61}[a-z0-9]$/, says: 'must be the id of a project' },
  region: { fits: /^(?:global|[a-z]+-[a-z]+\d+)$/, says: 'must be a region, for example us-central1, or global' },
  storage_uri: { fits: /^gs:\/\/[a-z0-9][\w.-]{1,220}[a-z0-9](?:\/[^?#]*)?$/, says: 'must be gs://BUCKET/FOLDER/' },
  storage_endpoint: { fits: /^https?:\/\/[\w.:-]+$/, says: 'must be an http or https address without a path' },
};

export const vertexSettingsMistakes = (settings: JsonObject): readonly (readonly [name: string, rule: string])[] =>
  Object.entries(settings).flatMap(([name, value]): [string, string][] => {
    const rule = RULES[name];
    if (!rule) return [[name, `is not a setting of this protocol; its settings are ${Object.keys(RULES).join(', ')}`]];
    return typeof value === 'string' && rule.fits.test(value) ? [] : [[name, rule.says]];
  });

export function vertexSettings(settings: JsonObject): VertexSettings {
  const { project, region, storage_uri, storage_endpoint } = { ...DEFAULTS, ...settings } as Record<string, string>;
  return {
    region: region ?? DEFAULTS.region,
    storageEndpoint: storage_endpoint ?? DEFAULTS.storage_endpoint,
    ...(project !== undefined && { project }),
    ...(storage_uri !== undefined && { storageUri: storage_uri }),
  };
}

/** What of a service account's key file is used. */
interface ServiceAccount {
  readonly email: string;
  readonly project: string;
  readonly keyId: string | undefined;
  readonly privateKey: string;
  readonly tokenUri: string;
}

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ASSERTION_SECONDS = 3_600;
/** A token is not used any more from so long before its end, in milliseconds. */
const EARLIER_MS = 5 * 60_000;
/** A token that was refused when it was younger than this is not the reason, in milliseconds. */
const FRESH_MS = 10_000;
const TOKEN_TIMEOUT_MS = 10_000;
const MAX_REPLY_BYTES = 64 * 1024;

/**
 * Reads the key file of a service account, in base64 as it is in `key`.
 *
 * @throws TypeError that names the rule, and nothing of the key.
 */
export function readServiceAccount(key: string): ServiceAccount {
  const file = parsed(Buffer.from(key, 'base64').toString('utf8'));
  if (!isJsonObject(file)) throw new TypeError('must be the key file of a service account (JSON), in base64');
  return {
    email: textIn(file, 'client_email'),
    privateKey: textIn(file, 'private_key'),
    tokenUri: httpsIn(file, 'token_uri'),
    project: textIn(file, 'project_id'),
    keyId: optionalIn(file, 'private_key_id'),
  };
}

function parsed(json: string): JsonValue | undefined {
  try {
    return parseBounded(json) as JsonValue;
  } catch {
    return undefined;
  }
}

function textIn(file: JsonObject, name: string): string {
  const value = file[name];
  if (typeof value !== 'string' || value === '') throw new TypeError(`must be a key file with "${name}"`);
  return value;
}

const optionalIn = (file: JsonObject, name: string): string | undefined =>
  file[name] === undefined ? undefined : textIn(file, name);

function httpsIn(file: JsonObject, name: string): string {
  const value = textIn(file, name);
  if (!URL.canParse(value)) throw new TypeError(`must be a key file whose "${name}" is an address`);
  return value;
}

interface Token {
  readonly value: string;
  readonly madeAtMs: number;
  readonly untilMs: number;
}

/**
 * A service account of Google: an assertion that it signs is exchanged for a token, which serves all calls until shortly
 * before its end.
 */
export class GoogleCredentials implements Credentials {
  private token: Token | undefined;
  private asking: Promise<Token> | undefined;
  /** How far the vendor's clock is ahead of ours. */
  private aheadMs = 0;

  constructor(
    private readonly account: ServiceAccount,
    private readonly fetcher: SafeFetcher,
    private readonly nowMs: () => number = Date.now,
  ) {}

  /** @throws MediaFailure `unfit`: the account is refused; `unavailable`: no token could be had. */
  async headers(signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    const known = this.token;
    const token = known && this.nowMs() < known.untilMs ? known : await this.ask();
    signal.throwIfAborted();
    return { authorization: `Bearer ${token.value}` };
  }

  renewedAfter({ status }: { readonly status: number }): boolean {
    if (status !== 401 || !this.token || this.nowMs() - this.token.madeAtMs < FRESH_MS) return false;
    this.token = undefined;
    return true;
  }

  secrets(): readonly string[] {
    return [this.account.privateKey, ...(this.token ? [this.token.value] : [])];
  }

  /** One request for all that wait. */
  private ask(): Promise<Token> {
    this.asking ??= this.exchange().finally(() => {
      this.asking = undefined;
    });
    return this.asking;
  }

  private async exchange(): Promise<Token> {
    const first = await this.exchanged();
    // An assertion of another time is refused as any that is wrong: where a clock explains it, the vendor's own is used.
    const aheadMs = first.status === 400 ? notableSkewMs(first, this.nowMs() + this.aheadMs) : undefined;
    if (aheadMs !== undefined) this.aheadMs += aheadMs;
    const { status, body } = aheadMs === undefined ? first : await this.exchanged();
    const { access_token: value, expires_in: seconds } = isJsonObject(body) ? body : {};
    if (status !== 200 || typeof value !== 'string' || typeof seconds !== 'number') throw refusedToken(status, body);
    const now = this.nowMs();
    // One that hardly lives is used once.
    this.token = { value, madeAtMs: now, untilMs: now + seconds * 1_000 - EARLIER_MS };
    return this.token;
  }

  private async exchanged(): Promise<VendorReply> {
    const { tokenUri } = this.account;
    const form = new URLSearchParams({ grant_type: GRANT, assertion: await this.assertion() });
    const { status, headers, body } = await this.fetcher
      .post(tokenUri, {
        body: form.toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
        timeoutMs: TOKEN_TIMEOUT_MS,
        maxReplyBytes: MAX_REPLY_BYTES,
      })
      .catch((cause: unknown) => {
        throw new MediaFailure('unavailable', 'away', { cause });
      });
    return { status, headers, body: parsed(body.toString('utf8')) };
  }

  private async assertion(): Promise<string> {
    const { email, tokenUri, keyId, privateKey } = this.account;
    const now = Math.floor((this.nowMs() + this.aheadMs) / 1_000);
    const key = await importPKCS8(privateKey, 'RS256').catch(() => {
      throw new MediaFailure('unfit', 'wrong_key', {
        vendor: { message: 'The private_key of the key file is not a private key.' },
      });
    });
    return new SignJWT({ scope: SCOPE })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) })
      .setIssuer(email)
      .setAudience(tokenUri)
      .setIssuedAt(now)
      .setExpirationTime(now + ASSERTION_SECONDS)
      .sign(key);
  }
}

/** Nothing of an order was sent yet. */
function refusedToken(status: number, body: JsonValue | undefined): MediaFailure {
  const { error, error_description: description } = isJsonObject(body) ? body : {};
  const vendor = wordsOf(status, { code: error ?? null, message: description ?? null });
  const isRefusal = status >= 400 && status < 500 && status !== 429 && status !== 408;
  return isRefusal
    ? new MediaFailure('unfit', 'wrong_key', { vendor })
    : new MediaFailure('unavailable', 'away', { vendor });
}
