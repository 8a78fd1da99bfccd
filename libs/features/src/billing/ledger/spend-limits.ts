import { Inject, Injectable } from '@nestjs/common';
import { formatMicros, GatewayError, type Micros } from '#contracts';
import { Database, type StatementRunner } from '#platform';

/** A limit that begins again with each day or month of UTC, and how far it is used. */
export interface SpendLimit {
  readonly period: 'day' | 'month';
  readonly limitMicros: Micros;
  /** Of work that has ended since the period began. */
  readonly spentMicros: Micros;
  /** By open work, which counts against the limit until it ends. */
  readonly heldMicros: Micros;
  readonly resetsAt: Date;
}

interface LimitRow {
  readonly subject_id: string;
  readonly period: 'day' | 'month';
  readonly limit_micros: bigint;
  readonly spent_micros: bigint;
  readonly held_micros: bigint;
  readonly resets_at: Date;
}

/** What is selected of a limited subject. `account` and `key` are expressions; the latter may be null. */
const limitsOf = (subject: string, account: string, key: string): string => `
select ${subject}.id as subject_id, p.period, p.limit_micros, ${subject}.held_micros,
  spent_micros(${account}, ${key}, p.period, ${subject}.used_micros) as spent_micros,
  (date_trunc(p.period, now() at time zone 'utc') + ('1 ' || p.period)::interval) at time zone 'utc' as resets_at
from ${subject} cross join lateral (values
  ('day', ${subject}.daily_limit_micros), ('month', ${subject}.monthly_limit_micros)) as p(period, limit_micros)
where p.limit_micros is not null and ${subject}.id = any($1)`;

const OF_ACCOUNTS = limitsOf('account', 'account.id', 'null::text');
const OF_KEYS = limitsOf('api_key', 'api_key.account_id', 'api_key.id');

/**
 * Marks what each limited subject had used when the period began: what it has used by now, less the daily sums since. Both
 * change in the same transactions, so the difference is the same whenever it is taken.
 */
const markOf = (table: string, account: string, key: string, period: 'day' | 'month', limit: string): string => `
insert into spend_mark as m (subject_id, period, started_on, base_micros)
select s.id, '${period}', date_trunc('${period}', now() at time zone 'utc')::date,
  s.used_micros - (select coalesce(sum(d.amount_micros), 0)::bigint from usage_daily d
    where d.account_id = ${account} and d.day >= date_trunc('${period}', now() at time zone 'utc')::date ${key})
from ${table} s where s.${limit} is not null and not exists (
  select from spend_mark k where k.subject_id = s.id and k.period = '${period}'
    and k.started_on >= date_trunc('${period}', now() at time zone 'utc')::date)
on conflict (subject_id, period) do update set started_on = excluded.started_on, base_micros = excluded.base_micros
where m.started_on < excluded.started_on`;

const OF_KEY = 'and d.api_key_id = s.id';
const MARKS = [
  markOf('account', 's.id', '', 'day', 'daily_limit_micros'),
  markOf('account', 's.id', '', 'month', 'monthly_limit_micros'),
  markOf('api_key', 's.account_id', OF_KEY, 'day', 'daily_limit_micros'),
  markOf('api_key', 's.account_id', OF_KEY, 'month', 'monthly_limit_micros'),
];

const WORDS = { day: 'daily', month: 'monthly' } as const;

/** What accounts and keys may spend in a day and in a month. The statements that hold money keep to it. */
@Injectable()
export class SpendLimits {
  constructor(@Inject(Database) private readonly database: StatementRunner) {}

  /** The limits of accounts by their ids; those without any are left out. */
  ofAccounts(ids: readonly string[]): Promise<ReadonlyMap<string, readonly SpendLimit[]>> {
    return this.read(OF_ACCOUNTS, ids);
  }

  /** The limits of keys by their ids; those without any are left out. */
  ofKeys(ids: readonly string[]): Promise<ReadonlyMap<string, readonly SpendLimit[]>> {
    return this.read(OF_KEYS, ids);
  }

  /** Why the hold was refused, if it was for a limit: 402 that names it and when it begins again. */
  async refusal(accountId: string, apiKeyId: string, amountMicros: Micros): Promise<GatewayError | undefined> {
    const keys = await this.ofKeys([apiKeyId]);
    const accounts = await this.ofAccounts([accountId]);
    const limits = [
      ...(keys.get(apiKeyId) ?? []).map((limit) => ({ limit, owner: 'this API key' })),
      ...(accounts.get(accountId) ?? []).map((limit) => ({ limit, owner: 'the account' })),
    ];
    const reached = limits.find(({ limit }) => roomIn(limit) < amountMicros);
    return reached && limitReached(reached.owner, reached.limit, amountMicros);
  }

  /** Once a period has begun. Until then limits are read from the daily sums, which is slower. */
  async mark(): Promise<void> {
    for (const text of MARKS) await this.database.query({ text, values: [], limit: 'long' });
  }

  private async read(text: string, ids: readonly string[]): Promise<ReadonlyMap<string, readonly SpendLimit[]>> {
    if (ids.length === 0) return new Map();
    const { rows } = await this.database.query<LimitRow & Record<string, unknown>>({ text, values: [ids] });
    const limits = new Map<string, SpendLimit[]>();
    for (const row of rows) limits.set(row.subject_id, [...(limits.get(row.subject_id) ?? []), toLimit(row)]);
    return limits;
  }
}

const toLimit = (row: LimitRow): SpendLimit => ({
  period: row.period,
  limitMicros: row.limit_micros,
  spentMicros: row.spent_micros,
  heldMicros: row.held_micros,
  resetsAt: row.resets_at,
});

const roomIn = ({ limitMicros, spentMicros, heldMicros }: SpendLimit): Micros => limitMicros - spentMicros - heldMicros;

function limitReached(owner: string, limit: SpendLimit, amountMicros: Micros): GatewayError {
  const { period, limitMicros, spentMicros, heldMicros, resetsAt } = limit;
  const message =
    `The ${WORDS[period]} limit of ${owner} does not cover this request: of ${formatMicros(limitMicros)}, ` +
    `${formatMicros(spentMicros)} are spent and ${formatMicros(heldMicros)} are held, and it takes ` +
    `${formatMicros(amountMicros)}. The limit begins again at ${resetsAt.toISOString()}.`;
  return new GatewayError('spend_limit_reached', message);
}
