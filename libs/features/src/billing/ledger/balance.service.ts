import { Injectable } from '@nestjs/common';
import { GatewayError, type Micros } from '#contracts';
import { Database } from '#platform';
import type { ShownRow } from '../../paging/page.js';

/** The balance and its totals, in micros. */
export interface Balance {
  /** Free to spend; null when nothing limits it. */
  readonly remainingMicros: Micros | null;
  /** The price of finished work so far, whether paid or owed. */
  readonly usedMicros: Micros;
  /** What the account owes of it: the next top-up pays this first. */
  readonly owedMicros: Micros;
}

export interface KeyBalance extends Balance {
  /** Its limit in all; null when only the balance of its account limits it. */
  readonly quotaMicros: Micros | null;
  readonly expiresAt: Date | null;
}

/** All books of an account, as its holders see them. */
export interface WholeBalance extends ShownRow {
  readonly available_micros: bigint;
  readonly owed_micros: bigint;
  readonly is_unlimited: boolean;
}

const READ_ACCOUNT = `
select case when not unlimited then available_micros end as "remainingMicros", used_micros as "usedMicros", owed_micros as "owedMicros"
from account where id = $1 and disabled_at is null`;
const READ_WHOLE = `
select available_micros, held_micros, used_micros, owed_micros, unlimited as is_unlimited, low_balance_micros,
  coalesce(time_zone, 'UTC') as time_zone from account
where id = $1`;
const READ_KEY = `
select k.quota_micros - k.held_micros - k.used_micros as "remainingMicros", k.used_micros as "usedMicros", a.owed_micros as "owedMicros",
  k.quota_micros as "quotaMicros", k.expires_at as "expiresAt"
from api_key k join account a on a.id = k.account_id where k.id = $1`;

/** Reads balances. What open work holds is not free, so it does not count as remaining. */
@Injectable()
export class BalanceService {
  constructor(private readonly database: Database) {}

  /** The balance of an account, whatever key asks; null when there is no such account or it is disabled. */
  async ofAccount(accountId: string): Promise<Balance | null> {
    const statement = { name: 'read_balance', text: READ_ACCOUNT, values: [accountId] };
    return (await this.database.of(accountId).query<Balance>(statement)).rows[0] ?? null;
  }

  /** What an account has, what is held of it, and what it used. @throws GatewayError `not_found`. */
  async whole(accountId: string): Promise<WholeBalance> {
    const { rows } = await this.database
      .of(accountId)
      .query<WholeBalance>({ name: 'read_whole_balance', text: READ_WHOLE, values: [accountId] });
    const [row] = rows;
    if (!row) throw new GatewayError('not_found', 'There is no such account.', { param: 'account_id' });
    return row;
  }

  /** What one key used and may still use; null when there is no such key. */
  async ofKey(apiKeyId: string): Promise<KeyBalance | null> {
    const statement = { name: 'read_key_balance', text: READ_KEY, values: [apiKeyId] };
    return (await this.database.query<KeyBalance>(statement)).rows[0] ?? null;
  }
}
