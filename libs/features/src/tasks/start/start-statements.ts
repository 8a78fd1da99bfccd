import type { UpstreamCallRef } from '#contracts';
import type { Database, StatementRunner } from '#platform';
import type { MediaAllowance } from '#providers';

/**
 * The transitions of a task from the announcement of a call to its result, one guarded statement each, like all
 * (`task-statements.ts`).
 */

/** What is written before a vendor is called, and what a limit of running orders counts. */
const INTEND = `start_intent_at = now(), start_ended_at = null, provider = $3, ticket = $4, step_renewed_at = null,
  lapses = case when start_intent_at is null then 0 else lapses end,
  sudden_lapses = case when start_intent_at is null then 0 else sudden_lapses end
where id = $1 and attempt = $2 and state = 'submitting'`;

/**
 * $1 task id, $2 attempt, $3 upstream id, $4 ticket. The point of no return, written before the vendor is called. A task that
 * comes so far for the first time has got past whatever its crashes were due to.
 */
export const RECORD_START_INTENT = `
update task set ${INTEND}
returning id`;

/**
 * The same for the sandbox where it is used because no upstream is configured. One that was configured in the meantime keeps it
 * from the order, also in a process that has not loaded it: what was sold for that one must be made by it.
 */
export const RECORD_STAND_IN_INTENT = `
with configured as (select exists (select from upstream where kind = 'media') as any_media),
intended as (
  update task set ${INTEND} and not (select any_media from configured)
  returning id
)
select (select id from intended) as id, (select any_media from configured) as is_full`;

/** $1 vendor account. For the rest of the transaction no other one counts what runs there. */
export const LOCK_VENDOR_ACCOUNT = `select pg_advisory_xact_lock(hashtextextended('media ' || $1, 0))`;

/**
 * The same below a limit of running orders, behind `LOCK_VENDOR_ACCOUNT`. $5 ids of the account's upstreams, $6 the most orders
 * that may run there, $7 as how many this one counts. Counted from the rows, so that nothing leaks when a worker dies.
 */
export const RECORD_START_INTENT_BELOW = `
with running as (
  select count(*) as orders from task
  where provider = any($5::text[]) and state in ('submitting', 'running') and start_intent_at is not null and id <> $1
), intended as (
  update task set ${INTEND} and (select orders from running) + $7::integer <= $6::integer
  returning id
)
select (select id from intended) as id, (select orders from running) + $7::integer > $6::integer as is_full`;

const DAY = `to_char(now() at time zone 'utc', 'YYYY-MM-DD')`;
const MONTH = `to_char(now() at time zone 'utc', 'YYYY-MM')`;
const endOf = (period: 'day' | 'month'): string =>
  `(date_trunc('${period}', now() at time zone 'utc') + interval '1 ${period}') at time zone 'utc'`;

/**
 * $1 upstream, $2 cost of the order in micros, $3 most orders of a day, $4 most micros of a day, $5 and $6 of a month; null: as many
 * as there are. Behind `LOCK_VENDOR_ACCOUNT`. Milliseconds until an allowance begins again that has no room for the order; null: all have.
 */
export const SPENT_ALLOWANCE = `
select max(ceil(extract(epoch from p.ends_at - now()) * 1000))::float8 as spent_ms
from (values (${DAY}, $3::bigint, $4::bigint, ${endOf('day')}), (${MONTH}, $5::bigint, $6::bigint, ${endOf('month')}))
  as p(period, most_orders, most_spend, ends_at)
left join upstream_allowance a on a.upstream = $1 and a.period = p.period
where coalesce(a.orders, 0) + 1 > p.most_orders or coalesce(a.spend_micros, 0) + $2::bigint > p.most_spend`;

/** $1 upstream, $2 cost of the order in micros. In the transaction that found room for it. */
export const TAKE_ALLOWANCE = `
insert into upstream_allowance as a (upstream, period, orders, spend_micros)
select $1, period, 1, $2::bigint from (values (${DAY}), (${MONTH})) as p(period)
on conflict (upstream, period) do update
set orders = a.orders + 1, spend_micros = a.spend_micros + excluded.spend_micros`;

/** $1 upstream, $2 cost of the order in micros, $3 task id. The upstream certainly did not take the order that the row announces. */
export const GIVE_BACK_ALLOWANCE = `
update upstream_allowance a set orders = a.orders - 1, spend_micros = a.spend_micros - $2::bigint
from task t
where t.id = $3 and t.provider = $1 and a.upstream = $1
  and a.period in (to_char(t.start_intent_at at time zone 'utc', 'YYYY-MM-DD'), to_char(t.start_intent_at at time zone 'utc', 'YYYY-MM'))`;

/**
 * $1 task id, $2 attempt, $3 operation, $4 upstream id, $5 first poll in ms, $6 to $10 as `costValues`, $11 hash of the vendor's
 * name of the work, or null. The vendor took the order. A request to cancel that came meanwhile is carried out at the first poll.
 * `is_anothers`: the vendor has given that name before, to another order, so that its files are perhaps not of this one.
 */
export const SET_RUNNING = `
with mine as (
  select id from task where id = $1 and attempt = $2 and state = 'submitting'
), named as (
  insert into taken_order (name_hash, task_id) select $11::bytea, id from mine where $11::bytea is not null
  on conflict (name_hash) do nothing
  returning task_id
), transitioned as (
  update task set state = 'running', operation = $3, provider = $4, lease_owner = null, lease_until = null,
    running_at = now(), lapses = 0, sudden_lapses = 0, version = version + 1, cost_micros = $6::bigint, cost_unit = $7,
    cost_worth_micros = $8::bigint, cost_is_reported = $9, configured_worth_micros = $10::bigint
  where id = $1 and attempt = $2 and state = 'submitting' and ($11::bytea is null or exists (select from named))
  returning id, cancel_requested_at is not null as cancel_requested
), scheduled as (
  insert into task_poll (task_id, provider, operation, next_poll_at, cancel_requested)
  select id, $4, $3, now() + $5::integer * interval '1 millisecond', cancel_requested from transitioned
  on conflict (task_id) do nothing
)
select (select id from transitioned) as id, $11::bytea is not null and not exists (select from named) as is_anothers from mine`;

/**
 * $1 task id, $2 attempt, $3 outputs, $4 upstream id, $5 to $9 as `costValues`. The vendor answered the order with its
 * files: any worker may copy them.
 */
export const SET_FINISHED = `
update task set state = 'storing', outputs = $3, provider = $4, lease_owner = null, lease_until = now(), running_at = now(),
  produced_at = now(), progress = greatest(progress, 95), lapses = 0, sudden_lapses = 0, version = version + 1,
  cost_micros = $5::bigint, cost_unit = $6, cost_worth_micros = $7::bigint, cost_is_reported = $8,
  configured_worth_micros = $9::bigint
where id = $1 and attempt = $2 and state = 'submitting'
returning id`;

/** $1 task id, $2 attempt, $3 reason. A call was lost that its upstream may be asked for once more: it costs us, not the caller. */
export const REPEAT_LOST_CALL = `
with transitioned as (
  update task set state = 'queued', start_intent_at = null, lost_calls = lost_calls + 1, last_failure = $3, lease_owner = null,
    version = version + 1, lease_until = now()
  where id = $1 and attempt = $2 and state = 'submitting' and lost_calls = 0
  returning id, attempt
), noted as (
  insert into task_event (task_id, attempt, kind, detail) select id, attempt, 'requeued', $3 from transitioned
)
select id from transitioned`;

/**
 * $1 task id, $2 upstream id, $3 operation. Work at the vendor that no row holds, unless the row already knows it.
 * Returns whether the task has ended, so that the work is no longer needed.
 */
export const RECORD_ORPHAN = `
with orphan as (
  insert into upstream_orphan (task_id, provider, operation)
  select $1, $2, $3::jsonb where not exists (select 1 from task where id = $1 and operation = $3::jsonb)
  on conflict do nothing
  returning task_id
)
select finished_at is not null as unwanted from task where id in (select task_id from orphan)`;

/** $1 task id, $2 operation. The vendor was asked to stop it. */
export const RESOLVE_ORPHAN = `
update upstream_orphan set resolved_at = now() where task_id = $1 and operation = $2::jsonb`;

/** How many orders a vendor account may have running. */
export interface RunningLimit {
  /** The ids of all its upstreams. */
  readonly upstreams: readonly string[];
  readonly most: number;
  /** As how many this order counts. */
  readonly slots: number;
}

export interface AllowanceTake {
  readonly upstream: string;
  readonly allowance: MediaAllowance;
  readonly costMicros: bigint;
}

/** What is written before a vendor is called. */
export interface StartIntent {
  readonly upstream: string;
  readonly vendorAccount: string;
  readonly ticket: UpstreamCallRef;
  /** Absent: as many orders may run as there are. */
  readonly below?: RunningLimit | undefined;
  /** Absent: it may be handed as many as there are, or has its share already. */
  readonly within?: AllowanceTake | undefined;
  /** It is the sandbox, which makes this only while no upstream is configured. */
  readonly isFallback?: boolean;
}

/** The result of an intent that something else than the task's own state may refuse. */
export interface Intended {
  readonly id: string | null;
  readonly is_full: boolean;
}

/** An allowance of the upstream has no room for the order, for so many milliseconds. */
export interface SpentAllowance {
  readonly spentMs: number;
}

/** `lost`: another attempt has the task. `full`: the account has as many orders running as it may, the sandbox none. */
export type IntentOutcome = 'recorded' | 'lost' | 'full' | SpentAllowance;

export const intendedOutcome = ([row]: readonly Intended[]): IntentOutcome =>
  row?.id ? 'recorded' : row?.is_full === true ? 'full' : 'lost';

/** One order after the other for each vendor account, so that two never count the same room. */
export function intendWithinLimits(
  database: Database,
  values: readonly unknown[],
  { vendorAccount, below, within }: StartIntent,
): Promise<IntentOutcome> {
  return database.transaction(async (transaction) => {
    await transaction.query({ text: LOCK_VENDOR_ACCOUNT, values: [vendorAccount] });
    const spentMs = within && (await spentMsOf(transaction, within));
    if (spentMs !== undefined) return { spentMs };
    const outcome = await intend(transaction, values, below);
    if (outcome === 'recorded' && within)
      await transaction.query({ text: TAKE_ALLOWANCE, values: [within.upstream, within.costMicros] });
    return outcome;
  });
}

async function spentMsOf(
  transaction: StatementRunner,
  { upstream, allowance, costMicros }: AllowanceTake,
): Promise<number | undefined> {
  const { rows } = await transaction.query<{ spent_ms: number | null }>({
    text: SPENT_ALLOWANCE,
    values: [
      upstream,
      costMicros,
      allowance.ordersPerDay ?? null,
      allowance.spendPerDayMicros ?? null,
      allowance.ordersPerMonth ?? null,
      allowance.spendPerMonthMicros ?? null,
    ],
  });
  return rows[0]?.spent_ms ?? undefined;
}

async function intend(
  transaction: StatementRunner,
  values: readonly unknown[],
  below: RunningLimit | undefined,
): Promise<IntentOutcome> {
  const limit = below ? [below.upstreams, below.most, below.slots] : [];
  const text = below ? RECORD_START_INTENT_BELOW : RECORD_START_INTENT;
  return intendedOutcome((await transaction.query<Intended>({ text, values: [...values, ...limit] })).rows);
}
