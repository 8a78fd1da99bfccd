import { isFinal, MEDIA, TASK_TRANSITIONS, type TaskState } from '#contracts';
import { type Database, type MetricSource, signals } from '#platform';
import { PAUSABLE_JOBS } from '../observability/paused-work.js';
import {
  AT_UPSTREAMS,
  DUE_POLLS,
  DUE_TASKS,
  LOW_BALANCES,
  MONEY,
  OPEN_TASKS,
  ORPHANS,
  PAUSED,
  USAGE_DAYS,
  WEBHOOKS,
} from './fleet-statements.js';

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
    (await database.query<Row>({ name, text, values: [] })).rows;
  return [
    { name: 'tasks_open', collect: async () => showOpen(await rowsOf('open_tasks', OPEN_TASKS)) },
    { name: 'tasks_due', collect: async () => showDue(await rowsOf('due_tasks', DUE_TASKS)) },
    { name: 'orders_at_upstreams', collect: async () => showAtUpstreams(await rowsOf('at_upstreams', AT_UPSTREAMS)) },
    { name: 'polls', collect: async () => showPolls(await rowsOf('due_polls', DUE_POLLS)) },
    { name: 'webhooks', collect: async () => showWebhooks(await rowsOf('due_webhooks', WEBHOOKS)) },
    { name: 'orphans', collect: async () => showOrphans(await rowsOf('open_orphans', ORPHANS)) },
    { name: 'paused_work', collect: async () => showPaused(await rowsOf('paused_work', PAUSED)) },
    { name: 'usage_days', collect: async () => showUsageDays(await rowsOf('open_usage_days', USAGE_DAYS)) },
    { name: 'balances', collect: async () => showBalances(await rowsOf('low_balances', LOW_BALANCES)) },
    { name: 'money', collect: async () => showMoney(await rowsOf('money_sums', MONEY)) },
  ];
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

function showOrphans([row]: readonly { orphans: number }[]): void {
  signals.orphans.set(row?.orphans ?? 0);
}

/** A job without a pause is 0, not absent. */
function showPaused(rows: readonly { job: string; paused: number }[]): void {
  for (const job of PAUSABLE_JOBS) signals.pausedWork.set({ job }, rows.find((row) => row.job === job)?.paused ?? 0);
}

/** The day before the first one that was used counts as closed; before anything is used there is nothing to close. */
function showUsageDays([row]: readonly { open: number }[]): void {
  signals.usageDaysOpen.set(Math.max(0, row?.open ?? 0));
}

function showBalances([row]: readonly { accounts: number }[]): void {
  signals.accountsLowBalance.set(row?.accounts ?? 0);
}

/** Sums as text, because they may pass what a double holds exactly; a graph can live with the rounding. */
interface MoneyRow {
  readonly available: string;
  readonly held: string;
  readonly used: string;
  readonly held_by_keys: string;
  readonly held_by_tasks: string;
}

function showMoney([row]: readonly MoneyRow[]): void {
  if (!row) return;
  for (const book of ['available', 'held', 'used'] as const) signals.money.set({ book }, Number(row[book]));
  signals.moneyMismatch.set({ check: 'held_by_keys' }, Number(row.held_by_keys));
  signals.moneyMismatch.set({ check: 'held_by_tasks' }, Number(row.held_by_tasks));
}
