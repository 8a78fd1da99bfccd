import { Inject, Injectable } from '@nestjs/common';
import { formatMicros, GatewayError, type Micros } from '#contracts';
import { Database, type StatementRunner } from '#platform';
import { insufficientBalance, insufficientKeyQuota, limitWasReached } from './payment-refusals.js';

/** What does not cover a hold: the key, by its quota or a limit of its own, or the account. */
export type Lacking = 'quota' | 'balance';

/** A limit that begins again with each day or month of the account's time zone, and how far it is used. */
export interface SpendLimit {
  readonly period: 'day' | 'month';
  readonly limitMicros: Micros;
  /** Of work that has ended since the period began. */
  readonly spentMicros: Micros;
  /** By open work, which counts against the limit until it ends. */
  readonly heldMicros: Micros;
  readonly resetsAt: Date;
}

/** What is selected of a limited subject. `account` and `key` are expressions; the latter may be null. */
const limitsOf = (subject: string, account: string, key: string): string => `
select ${subject}.id as subject, p.period, p.limit_micros as "limitMicros", ${subject}.held_micros as "heldMicros",
  spent_micros(${account}, ${key}, p.period, ${subject}.used_micros) as "spentMicros",
  period_end(${account}, p.period) as "resetsAt"
from ${subject} cross join lateral (values
  ('day', ${subject}.daily_limit_micros), ('month', ${subject}.monthly_limit_micros)) as p(period, limit_micros)
where p.limit_micros is not null and ${subject}.id = any($1)`;

const OF_ACCOUNTS = limitsOf('account', 'account.id', 'null::text');
const OF_KEYS = limitsOf('api_key', 'api_key.account_id', 'api_key.id');

/**
 * Marks what each limited subject had used when the period began: what it has used by now, less what it used since. All of it
 * changes in the same transactions, so the difference is the same whenever it is taken.
 */
const markOf = (table: string, account: string, key: string, period: 'day' | 'month', limit: string): string => `
insert into spend_mark as m (subject_id, period, started_on, started_at, base_micros)
select s.id, '${period}', (p.began at time zone 'utc')::date, p.began, s.used_micros - used_since(${account}, ${key}, p.began)
from ${table} s cross join lateral (select period_start(${account}, '${period}') as began) p
where s.${limit} is not null and not exists (
  select from spend_mark k where k.subject_id = s.id and k.period = '${period}' and k.started_on = (p.began at time zone 'utc')::date
    and coalesce(k.started_at, k.started_on::timestamp at time zone 'utc') = p.began)
on conflict (subject_id, period) do update
set started_on = excluded.started_on, started_at = excluded.started_at, base_micros = excluded.base_micros`;

/** Of a tag, how much of its daily sums lies before the period, where that does not begin with a day of UTC. */
const markOfTags = (period: 'day' | 'month', limit: string): string => `
insert into spend_mark as m (subject_id, period, started_on, started_at, base_micros)
select l.account_id || ' ' || l.tag, '${period}', (p.began at time zone 'utc')::date, p.began,
  tag_used_from_day_of(l.account_id, l.tag, p.began) - tag_used_since(l.account_id, l.tag, p.began)
from tag_limit l cross join lateral (select period_start(l.account_id, '${period}') as began) p
where l.${limit} is not null and p.began <> first_whole_day(p.began)::timestamp at time zone 'utc' and not exists (
  select from spend_mark k
  where k.subject_id = l.account_id || ' ' || l.tag and k.period = '${period}' and k.started_at = p.began)
on conflict (subject_id, period) do update
set started_on = excluded.started_on, started_at = excluded.started_at, base_micros = excluded.base_micros`;

const MARKS = [
  markOf('account', 's.id', 'null', 'day', 'daily_limit_micros'),
  markOf('account', 's.id', 'null', 'month', 'monthly_limit_micros'),
  markOf('api_key', 's.account_id', 's.id', 'day', 'daily_limit_micros'),
  markOf('api_key', 's.account_id', 's.id', 'month', 'monthly_limit_micros'),
  markOfTags('day', 'daily_limit_micros'),
  markOfTags('month', 'monthly_limit_micros'),
];

/** $1 account, $2 tags. */
const OF_TAGS = `
select l.tag as subject, p.period, p.limit_micros as "limitMicros", tag_held(l.account_id, l.tag) as "heldMicros",
  tag_spent(l.account_id, l.tag, p.period) as "spentMicros",
  period_end(l.account_id, p.period) as "resetsAt"
from tag_limit l cross join lateral (values
  ('day', l.daily_limit_micros), ('month', l.monthly_limit_micros)) as p(period, limit_micros)
where p.limit_micros is not null and l.account_id = $1 and l.tag = any($2)`;

/** What an account and one of its keys have left, null where nothing limits it; never less than nothing. */
const LEFT = `
select case when not a.unlimited then a.available_micros end as of_account, k.quota_micros is not null as has_quota,
  greatest(k.quota_micros - k.held_micros - k.used_micros, 0) as of_key
from account a join api_key k on k.account_id = a.id where a.id = $1 and k.id = $2`;

interface LeftRow extends Record<string, unknown> {
  readonly of_account: Micros | null;
  readonly of_key: Micros | null;
  readonly has_quota: boolean;
}

const NOTHING_LEFT: LeftRow = { of_account: null, of_key: null, has_quota: true };

export interface LimitedPayer {
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly limitedTags?: readonly string[] | undefined;
}

const WORDS = { day: 'daily', month: 'monthly' } as const;

/** What accounts and keys may spend in a day and in a month. The statements that hold money keep to it. */
@Injectable()
export class SpendLimits {
  constructor(@Inject(Database) private readonly database: StatementRunner) {}

  /** The limits of accounts by their ids; those without any are left out. */
  ofAccounts(ids: readonly string[]): Promise<ReadonlyMap<string, readonly SpendLimit[]>> {
    return this.read(OF_ACCOUNTS, [ids]);
  }

  /** The limits of keys by their ids; those without any are left out. */
  ofKeys(ids: readonly string[]): Promise<ReadonlyMap<string, readonly SpendLimit[]>> {
    return this.read(OF_KEYS, [ids]);
  }

  /**
   * Why a hold was refused, 402: a limit that begins again some day, the quota of the key, or the balance. A key without a quota
   * was at a limit that has room again by now.
   */
  async refusal(lacking: Lacking, payer: LimitedPayer, amountMicros: Micros): Promise<GatewayError> {
    const reached = await this.reachedBy(payer, amountMicros);
    if (reached) return reached;
    const { rows } = await this.database.query<LeftRow>({ text: LEFT, values: [payer.accountId, payer.apiKeyId] });
    const { of_account: ofAccount, of_key: ofKey, has_quota: hasQuota } = rows[0] ?? NOTHING_LEFT;
    if (lacking === 'balance') return insufficientBalance(payer.accountId, { amountMicros, leftMicros: ofAccount });
    return hasQuota ? insufficientKeyQuota({ amountMicros, leftMicros: ofKey }) : limitWasReached();
  }

  private async reachedBy(
    { accountId, apiKeyId, limitedTags = [] }: LimitedPayer,
    amountMicros: Micros,
  ): Promise<GatewayError | undefined> {
    const keys = await this.ofKeys([apiKeyId]);
    const accounts = await this.ofAccounts([accountId]);
    const tags = await this.read(OF_TAGS, [accountId, limitedTags]);
    const limits = [
      ...(keys.get(apiKeyId) ?? []).map((limit) => ({ limit, owner: 'this API key' })),
      ...(accounts.get(accountId) ?? []).map((limit) => ({ limit, owner: 'the account' })),
      ...[...tags].flatMap(([tag, ofTag]) => ofTag.map((limit) => ({ limit, owner: `the tag "${tag}"` }))),
    ];
    const reached = limits.find(({ limit }) => roomIn(limit) < amountMicros);
    return reached && limitReached(reached.owner, reached.limit, amountMicros);
  }

  /** Once a period has begun, in whatever time zone. Until then limits are read from the daily sums, which is slower. */
  async mark(): Promise<void> {
    for (const text of MARKS) await this.database.query({ text, limit: 'long' });
  }

  /** The last of the values is the list of subjects. */
  private async read(text: string, values: readonly unknown[]): Promise<ReadonlyMap<string, readonly SpendLimit[]>> {
    if ((values.at(-1) as readonly string[]).length === 0) return new Map();
    const { rows } = await this.database.query<SpendLimit & { subject: string }>({ text, values: [...values] });
    const limits = new Map<string, SpendLimit[]>();
    for (const { subject, ...limit } of rows) limits.set(subject, [...(limits.get(subject) ?? []), limit]);
    return limits;
  }
}

const roomIn = ({ limitMicros, spentMicros, heldMicros }: SpendLimit): Micros => limitMicros - spentMicros - heldMicros;

function limitReached(owner: string, limit: SpendLimit, amountMicros: Micros): GatewayError {
  const { period, limitMicros, spentMicros, heldMicros, resetsAt } = limit;
  const message =
    `The ${WORDS[period]} limit of ${owner} does not cover this request: of ${formatMicros(limitMicros)}, ` +
    `${formatMicros(spentMicros)} are spent and ${formatMicros(heldMicros)} are held, and it takes ` +
    `${formatMicros(amountMicros)}. The limit begins again at ${resetsAt.toISOString()}.`;
  return new GatewayError('spend_limit_reached', message);
}
