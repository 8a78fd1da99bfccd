import { Injectable } from '@nestjs/common';
import type { Micros } from '#contracts';
import { Database } from '#platform';
import { AuditedChanges, changeOf, type Operator } from '../audit/audit.js';
import { missingAccount } from '../billing/ledger/locked-account.js';

/** What the work of a tag may cost; null: no limit. */
export interface TagLimit {
  readonly tag: string;
  readonly daily_limit_micros: Micros | null;
  readonly monthly_limit_micros: Micros | null;
}

export const TAG_LIMITS_MAX = 100;

const LIMITS = `
select tag, daily_limit_micros, monthly_limit_micros,
  tag_spent(account_id, tag, 'day') as spent_today_micros, tag_spent(account_id, tag, 'month') as spent_this_month_micros,
  tag_held(account_id, tag) as held_micros
from tag_limit where account_id = $1 order by tag`;

/** $1 account, $2 the limits as JSON. Each has its own sums from now on, also where the account has used up its places. */
const REPLACE = `
with given as (
  select * from jsonb_to_recordset($2::jsonb) as g(tag text, daily_limit_micros bigint, monthly_limit_micros bigint)
), gone as (
  delete from tag_limit where account_id = $1 and tag not in (select tag from given) returning tag
), unmarked as (
  delete from spend_mark where subject_id in (select $1 || ' ' || tag from gone)
), named as (
  insert into account_tag (account_id, tag) select $1, tag from given order by tag on conflict (account_id, tag) do nothing
)
insert into tag_limit (account_id, tag, daily_limit_micros, monthly_limit_micros)
select $1, tag, daily_limit_micros, monthly_limit_micros from given
on conflict (account_id, tag) do update
set daily_limit_micros = excluded.daily_limit_micros, monthly_limit_micros = excluded.monthly_limit_micros`;

/** What the work under tags of an account may cost, for operators. A change reaches every replica within seconds (see `KEY_CACHE_MS`). */
@Injectable()
export class TagLimitsService {
  constructor(
    private readonly database: Database,
    private readonly changes: AuditedChanges,
  ) {}

  /** By tag, with what is spent and held under it. */
  async list(accountId: string): Promise<TagLimit[]> {
    const { rows } = await this.database.query<TagLimit>({ text: LIMITS, values: [accountId] });
    return rows;
  }

  /** Puts these in place of all limits there are. @throws GatewayError `not_found`: there is no such account. */
  async replace(operator: Operator, accountId: string, limits: readonly TagLimit[]): Promise<TagLimit[]> {
    const rows = limits.map(({ tag, daily_limit_micros: daily, monthly_limit_micros: monthly }) => ({
      tag,
      daily_limit_micros: daily === null ? null : daily.toString(),
      monthly_limit_micros: monthly === null ? null : monthly.toString(),
    }));
    await this.changes.runStatements(operator, async (transaction) => {
      const lock = { text: 'select from account where id = $1 for no key update', values: [accountId] };
      if ((await transaction.query(lock)).rows.length === 0) missingAccount(accountId);
      const read = {
        text: 'select tag, daily_limit_micros, monthly_limit_micros from tag_limit where account_id = $1 order by tag',
        values: [accountId],
      };
      const { rows: before } = await transaction.query(read);
      await transaction.query({ text: REPLACE, values: [accountId, JSON.stringify(rows)] });
      const states = [{ tag_limits: before }, { tag_limits: rows }] as const;
      return { result: undefined, change: changeOf('account', 'account.tag_limits_set', accountId, ...states) };
    });
    return this.list(accountId);
  }
}
