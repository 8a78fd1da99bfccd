import type { Micros } from '#contracts';
import { Database } from '#platform';

/** What somebody has and had, in micros. */
export interface Balance {
  /** Free to spend; null when nothing limits it. */
  readonly remainingMicros: Micros | null;
  /** Paid so far for finished work. */
  readonly usedMicros: Micros;
}

/** What a key may spend. */
export interface KeyBalance extends Balance {
  /** Its limit in all; null when only the balance of its account limits it. */
  readonly quotaMicros: Micros | null;
  readonly expiresAt: Date | null;
}

interface AccountRow {
  readonly available_micros: bigint;
  readonly used_micros: bigint;
  readonly unlimited: boolean;
}

interface KeyRow {
  readonly quota_micros: bigint | null;
  readonly held_micros: bigint;
  readonly used_micros: bigint;
  readonly expires_at: Date | null;
}

const READ_ACCOUNT = `
select available_micros, used_micros, unlimited from account where id = $1 and disabled_at is null`;
const READ_KEY = `select quota_micros, held_micros, used_micros, expires_at from api_key where id = $1`;

/** Reads balances. What open work holds is not free, so it does not count as remaining. */
export class BalanceService {
  constructor(private readonly database: Database) {}

  /** The balance of an account, whatever key asks (D1 4.4); null when there is no such account or it is disabled. */
  async ofAccount(accountId: string): Promise<Balance | null> {
    const statement = { name: 'read_balance', text: READ_ACCOUNT, values: [accountId] };
    const [row] = (await this.database.query<AccountRow>(statement)).rows;
    if (!row) return null;
    return { remainingMicros: row.unlimited ? null : row.available_micros, usedMicros: row.used_micros };
  }

  /** What one key used and may still use; null when there is no such key. */
  async ofKey(apiKeyId: string): Promise<KeyBalance | null> {
    const statement = { name: 'read_key_balance', text: READ_KEY, values: [apiKeyId] };
    const [row] = (await this.database.query<KeyRow>(statement)).rows;
    if (!row) return null;
    const { quota_micros: quotaMicros, held_micros: heldMicros, used_micros: usedMicros } = row;
    return {
      remainingMicros: quotaMicros === null ? null : quotaMicros - heldMicros - usedMicros,
      usedMicros,
      quotaMicros,
      expiresAt: row.expires_at,
    };
  }
}
