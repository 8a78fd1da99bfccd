import { isFinal, MEDIA, TASK_TRANSITIONS, type TaskState } from '#contracts';
import { type Database, type MetricSource, signals } from '#platform';
import { MarginsService, type ObservedLoss } from '../billing/usage/margins.service.js';
import { PAUSABLE_JOBS } from '../observability/paused-work.js';

/** Durations in seconds. */
interface DueRow {
  readonly medium: string;
  readonly due: number;
  readonly oldest: number;
}

const OPEN_STATES = (Object.keys(TASK_TRANSITIONS) as TaskState[]).filter((state) => !isFinal(state));

/**
 * The numbers of the whole fleet, which every process would report alike; one kind of process asks for them. Every count
 * reads an index of what is open, so the price does not grow with history.
 */
export function fleetSources(database: Database): MetricSource[] {
  const rowsOf = async <Row extends object>(name: string, text: string): Promise<Row[]> =>
    (await database.query<Row>({ name, text })).rows;
  const countOf = async (name: string, text: string): Promise<number> =>
    (await rowsOf<{ count: number }>(name, text))[0]?.count ?? 0;
  return [
    { name: 'tasks_open', collect: async () => showOpen(await rowsOf('open_tasks', OPEN_TASKS)) },
    { name: 'tasks_due', collect: async () => showDue(await rowsOf('due_tasks', DUE_TASKS)) },
    { name: 'orders_at_upstreams', collect: async () => showAtUpstreams(await rowsOf('at_upstreams', AT_UPSTREAMS)) },
    { name: 'polls', collect: async () => showPolls(await rowsOf('due_polls', DUE_POLLS)) },
    { name: 'webhooks', collect: async () => showWebhooks(await rowsOf('due_webhooks', WEBHOOKS)) },
    { name: 'orphans', collect: async () => signals.orphans.set(await countOf('open_orphans', ORPHANS)) },
    { name: 'paused_work', collect: async () => showPaused(await rowsOf('paused_work', PAUSED)) },
    {
      name: 'usage_days',
      collect: async () => signals.usageDaysOpen.set(await countOf('open_usage_days', USAGE_DAYS)),
    },
    {
      name: 'balances',
      collect: async () => signals.accountsLowBalance.set(await countOf('low_balances', LOW_BALANCES)),
    },
    { name: 'money', collect: async () => showMoney(await rowsOf('money_sums', MONEY)) },
    { name: 'losses', collect: seldom(async () => showLosses(await new MarginsService(database).losses())) },
  ];
}

/** How often the records of a day are read for a metric, in milliseconds. */
const SELDOM_MS = 600_000;

/** What reads more than an index is asked for now and then; in between its metric stays. */
function seldom(collect: () => Promise<void>): () => Promise<void> {
  let collectedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() - collectedAt < SELDOM_MS) return;
    await collect();
    collectedAt = performance.now();
  };
}

/** States without a task are 0, not absent: an alert on a missing series would never fire. */
function showOpen(rows: readonly { medium: string; state: string; open: number }[]): void {
  for (const medium of MEDIA) {
    for (const state of OPEN_STATES) {
      const row = rows.find((candidate) => candidate.medium === medium && candidate.state === state);
      signals.tasksOpen.set({ medium, state }, row?.open ?? 0);
    }
  }
}

/** Upstreams come and go: those without an order have no series. */
function showAtUpstreams(rows: readonly { upstream: string; state: string; open: number }[]): void {
  signals.mediaOpen.reset();
  for (const { upstream, state, open } of rows) signals.mediaOpen.set({ upstream, state }, open);
}

function showDue(rows: readonly DueRow[]): void {
  for (const medium of MEDIA) {
    const row = rows.find((candidate) => candidate.medium === medium);
    signals.tasksDue.set({ medium }, row?.due ?? 0);
    signals.tasksDueOldest.set({ medium }, row?.oldest ?? 0);
  }
}

function showPolls([row]: readonly { due: number; oldest: number }[]): void {
  signals.pollsDue.set(row?.due ?? 0);
  signals.pollsDueOldest.set(row?.oldest ?? 0);
}

function showWebhooks([row]: readonly { pending: number; lag: number }[]): void {
  signals.webhooksPending.set(row?.pending ?? 0);
  signals.webhookLag.set(row?.lag ?? 0);
}

/** A job without a pause is 0, not absent. */
function showPaused(rows: readonly { job: string; paused: number }[]): void {
  for (const job of PAUSABLE_JOBS) signals.pausedWork.set({ job }, rows.find((row) => row.job === job)?.paused ?? 0);
}

function showLosses(losses: readonly ObservedLoss[]): void {
  signals.soldAtALoss.reset();
  for (const { model, upstream } of losses) signals.soldAtALoss.set({ model, upstream }, 1);
}

/** Sums as text, because they may pass what a double holds exactly; a graph can live with the rounding. */
export type MoneyRow = Readonly<Record<'available' | 'held' | 'used' | 'held_by_keys' | 'held_by_tasks', string>>;

function showMoney([row]: readonly MoneyRow[]): void {
  if (!row) return;
  for (const book of ['available', 'held', 'used'] as const) signals.money.set({ book }, Number(row[book]));
  signals.moneyMismatch.set({ check: 'held_by_keys' }, Number(row.held_by_keys));
  signals.moneyMismatch.set({ check: 'held_by_tasks' }, Number(row.held_by_tasks));
}

// Sums over the whole fleet. Each reads an index of what is open, so the price does not grow with history.

export const OPEN_TASKS = `
select medium, state, count(*)::integer as open from task where finished_at is null group by medium, state`;

export const DUE_TASKS = `
select medium, count(*)::integer as due, extract(epoch from max(now() - lease_until))::float8 as oldest
from task where lease_until <= now() and finished_at is null group by medium`;

/** Read from the index of what is at an upstream. */
const AT_UPSTREAMS = `
select provider as upstream, state, count(*)::integer as open
from task where state in ('submitting', 'running') and provider is not null group by 1, 2`;

export const DUE_POLLS = `
select count(*)::integer as due, coalesce(extract(epoch from max(now() - next_poll_at)), 0)::float8 as oldest
from task_poll where next_poll_at <= now()`;

export const WEBHOOKS = `
select count(*)::integer as pending,
  greatest(0, coalesce(extract(epoch from max(now() - next_attempt_at)), 0))::float8 as lag
from webhook_delivery where next_attempt_at is not null`;

const ORPHANS = `select count(*)::integer from upstream_orphan where resolved_at is null`;

/** What is passed over now, and what would be passed over again at its next failure soon. */
const PAUSED = `select job, count(*)::integer as paused from paused_work
where resumes_at > now() - interval '1 minute' group by job`;

/**
 * Counted from the first day that anything was used: before it there is nothing to close. A day is closed a quarter of
 * an hour after its end.
 */
const USAGE_DAYS = `
select greatest(0, coalesce((now() at time zone 'utc')::date - 1
  - coalesce((select max(day) from usage_closed_day), (select min(day) - 1 from usage_daily)), 0)) as count`;

/** One statement, so that all sums are of the same moment. */
export const MONEY = `
select a.available::text, a.held::text, a.used::text,
  abs(a.held - k.held)::text as held_by_keys, greatest(0, t.held - a.held)::text as held_by_tasks
from (select coalesce(sum(available_micros), 0) as available, coalesce(sum(held_micros), 0) as held,
    coalesce(sum(used_micros), 0) as used from account) a,
  (select coalesce(sum(held_micros), 0) as held from api_key) k,
  (select coalesce(sum(hold_micros), 0) as held from task where finished_at is null) t`;

/** Reads the last seven days of the daily sums by their index; an account without recent usage needs no top-up. */
const LOW_BALANCES = `
select count(*)::integer from account a
join (select account_id, sum(amount_micros) / 7 as a_day from usage_daily
  where day > (now() at time zone 'utc')::date - 7 group by account_id) used on used.account_id = a.id
where not a.unlimited and used.a_day > 0 and a.available_micros < used.a_day`;
