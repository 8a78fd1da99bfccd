import { hash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { GatewayError } from '#contracts';
import { Batcher, Database, lruCache, REQUEST_WAIT_MS } from '#platform';
import { KEY_PEPPER } from '#runtime';
import { hashApiKey } from './api-key.js';
import { type Caller, callerWith, KEY_RULES, type KeyRulesRow } from './caller.js';
import { GuessLimiter } from '../limits/guess-limiter.js';
import { LastUsedTracker } from './last-used-tracker.js';
import { KEY_GUESSES } from '../limits/limit-tokens.js';

/** How long a looked-up key is believed, in milliseconds: the longest a revoked key may keep working. */
export const KEY_CACHE_MS = 3_000;
/** How long a key that was good is looked up without delay, whatever its address has guessed, in milliseconds. */
const GOOD_KEY_MS = 3_600_000;

interface CallerRow extends KeyRulesRow {
  readonly key_hash: Buffer;
  readonly account_id: string;
  readonly id: string;
  readonly expires_at: Date | null;
}

/** A rotated key is found by either secret until the overlap ends. */
const FIND_CALLERS = `
select f.hash as key_hash, k.id, k.account_id, least(k.expires_at, f.valid_until) as expires_at, ${KEY_RULES}
from (
  select id, key_hash as hash, null::timestamptz as valid_until from api_key where key_hash = any($1)
  union all
  select id, previous_key_hash, previous_valid_until from api_key
  where previous_key_hash = any($1) and previous_valid_until > now()
) f join api_key k on k.id = f.id join account a on a.id = k.account_id
where k.revoked_at is null and a.disabled_at is null`;

/**
 * Finds the owner of a presented key. Keys are found by keyed hash, so nothing here compares secrets byte by byte.
 * What was found is believed for `KEY_CACHE_MS` and no longer, so every change of a key reaches every replica by then.
 */
@Injectable()
export class AccessService {
  /** By a plain digest of the key, which takes a tenth of the time of the keyed hash and never leaves this memory. */
  private readonly known = lruCache<string, Caller>(50_000, { ttl: KEY_CACHE_MS });
  /** Keys that were good lately, by the same digest. */
  private readonly good = lruCache<string, true>(50_000, { ttl: GOOD_KEY_MS });
  private readonly lookups: Batcher<Buffer, Caller | null>;

  constructor(
    private readonly database: Database,
    @Inject(KEY_PEPPER) private readonly pepper: string,
    private readonly uses: LastUsedTracker,
    @Inject(KEY_GUESSES) private readonly guesses: GuessLimiter,
  ) {
    this.lookups = new Batcher((hashes) => this.find(hashes), {
      maxItems: 64,
      maxRunsInFlight: 2,
      maxWaitMs: REQUEST_WAIT_MS,
    });
  }

  /**
   * The caller behind a key, at once where it is known. `addressOf`: where it came from; asked only for keys that were not good lately.
   *
   * @throws GatewayError `invalid_api_key`: an unknown, revoked or expired one, or one of a disabled account;
   * `rate_limit_exceeded`: too many wrong keys came from the address.
   */
  authenticate(presented: string, addressOf: () => string | undefined): Caller | Promise<Caller> {
    const digest = hash('sha256', presented, 'base64');
    const known = this.known.get(digest);
    if (known) return this.admitted(known);
    return this.lookUp(presented, digest, addressOf).then((caller) => {
      if (caller) return this.admitted(caller);
      throw new GatewayError('invalid_api_key', whyUnknown(presented));
    });
  }

  private admitted(caller: Caller): Caller {
    if (caller.expiresAt && caller.expiresAt.getTime() <= Date.now()) {
      throw new GatewayError('invalid_api_key', `The API key expired at ${caller.expiresAt.toISOString()}.`);
    }
    this.uses.note(caller.apiKeyId);
    return caller;
  }

  /** By which the database knows a secret. */
  hashOf(presented: string): Buffer {
    return hashApiKey(presented, this.pepper);
  }

  private async lookUp(presented: string, digest: string, addressOf: () => string | undefined): Promise<Caller | null> {
    const find = (): Promise<Caller | null> => this.lookups.add(this.hashOf(presented));
    const caller = this.good.has(digest) ? await find() : await this.guesses.check({ address: addressOf() }, find);
    if (!caller) return null;
    this.known.set(digest, caller);
    this.good.set(digest, true);
    return caller;
  }

  private async find(hashes: readonly Buffer[]): Promise<(Caller | null)[]> {
    const { rows } = await this.database.query<CallerRow>({
      name: 'find_callers',
      text: FIND_CALLERS,
      values: [hashes],
    });
    const byHash = new Map(rows.map((row) => [row.key_hash.toString('base64'), toCaller(row)]));
    return hashes.map((hash) => byHash.get(hash.toString('base64')) ?? null);
  }
}

/** Mistakes visible in the first letters of a key, and their error messages; the key is not repeated. */
const SLIPS: readonly (readonly [RegExp, string])[] = [
  [/^["'“]/, 'The API key was sent in quotation marks; send it without them.'],
  [/^Bearer\s/i, 'The word Bearer stands twice before the API key; send it once.'],
  [
    /^(\$\{?\w+\}?|\{\{.*|<.*>)$/,
    'The name of a variable was sent in place of the API key: in a shell, double quotation marks fill it in.',
  ],
];

const whyUnknown = (presented: string): string =>
  SLIPS.find(([slip]) => slip.test(presented))?.[1] ??
  'The API key is not valid: it is unknown, or was revoked, or its account is disabled.';

const toCaller = (row: CallerRow): Caller =>
  callerWith(row, { accountId: row.account_id, apiKeyId: row.id, expiresAt: row.expires_at });
