import { createHash } from 'node:crypto';
import { ReconciliationService } from '#features';
import type { Load } from './load.js';
import type { Services } from './services.js';
import type { ChaosVendor } from './vendor/chaos-vendor.js';

/** How tasks may end in a chaos run: made, or given up for the vendor's reasons with the money released. */
const EXPLAINED = new Set(['upstream_unknown', 'deadline_exceeded', 'upstream_error', 'processing_crashed']);

/** How late a task may end in seconds: the worker that is to end it at its deadline may be dead at that moment. */
const LATE_SECONDS_MAX = 30;

interface EndedTask {
  readonly id: string;
  /** By which vendors know it. */
  readonly prompt: string;
  readonly provider: string | null;
  readonly state: string;
  readonly error_code: string | null;
  readonly last_failure: string | null;
  /** How long after its deadline it ended, in seconds; null while it has not. */
  readonly late_seconds: number | null;
}

interface TaskMoney {
  readonly id: string;
  readonly state: string;
  readonly hold_micros: bigint;
  readonly holds: bigint;
  readonly captures: bigint;
  readonly settled: bigint | string;
}

/** What a run left behind. */
export interface Verdict {
  readonly tasks: number;
  readonly completed: number;
  /** One line for each broken promise; empty when all were kept. */
  readonly failures: readonly string[];
}

const MONEY = `
select t.id, t.hold_micros, t.state,
  (select count(*) from ledger_entry e where e.task_id = t.id and e.kind = 'hold') as holds,
  (select count(*) from ledger_entry e where e.task_id = t.id and e.kind = 'capture') as captures,
  (select coalesce(sum(amount_micros), 0) from ledger_entry e where e.task_id = t.id and e.kind in ('capture', 'release')) as settled
from task t`;
const UNBALANCED = `
select a.id from account a where held_micros <> 0
  or available_micros <> (select coalesce(sum(case when credit = 'available' then amount_micros else 0 end
    - case when debit = 'available' then amount_micros else 0 end), 0) from ledger_entry e where e.account_id = a.id)
  or used_micros <> (select coalesce(sum(amount_micros), 0) from ledger_entry e where e.account_id = a.id and kind = 'capture')
union all
select k.id from api_key k where held_micros <> 0
  or used_micros <> (select coalesce(sum(amount_micros), 0) from ledger_entry e where e.api_key_id = k.id and kind = 'capture')`;
const FILES = `
select f.store_key, f.sha256, t.id from task t left join task_file f on f.task_id = t.id where t.state = 'completed'`;

/** Looks for anything lost, doubled or unpaid. Call it when nothing moves any more. */
export async function verify(
  services: Services,
  vendor: ChaosVendor,
  load: Load,
  /** Whether any task may have been found to end processes; else only those that do. */
  anyIsDeadly: boolean,
): Promise<Verdict> {
  const { rows: tasks } = await services.database.query<EndedTask>({
    text: `select id, parameters ->> 'prompt' as prompt, provider, state, error_code, last_failure,
      extract(epoch from finished_at - deadline_at)::float8 as late_seconds from task`,
  });
  const known = new Set(tasks.map(({ id }) => id));
  const lost = [...load.promised].filter((taskId) => !known.has(taskId));
  const doubled = [...vendor.taken].filter(([, times]) => times > 1);
  const failures = [
    ...lost.map((taskId) => `${taskId} was promised and is lost`),
    ...doubled.map(([prompt, times]) => `${prompt} was ordered ${times} times`),
    ...tasks.flatMap((task) => judge(task, vendor)),
    ...tasks.flatMap((task) => judgeCrashes(task, load.poisonous, anyIsDeadly)),
    ...(await wrongMoney(services)),
    ...(await unreconciled(services)),
    ...(await missingFiles(services)),
    ...(await strayFiles(services, [...known])),
  ];
  return { tasks: tasks.length, completed: tasks.filter(({ state }) => state === 'completed').length, failures };
}

async function wrongMoney({ database }: Services): Promise<string[]> {
  const { rows: tasks } = await database.query<TaskMoney>({ text: MONEY });
  const wrong = tasks.filter(({ state, holds, captures, settled, hold_micros: hold }) => {
    return holds !== 1n || captures !== (state === 'completed' ? 1n : 0n) || BigInt(settled) !== hold;
  });
  const { rows: unbalanced } = await database.query<{ id: string }>({ text: UNBALANCED });
  return [
    ...wrong.map(({ id }) => `${id} has wrong ledger entries`),
    ...unbalanced.map(({ id }) => `${id} does not add up`),
  ];
}

/** What the gateway's own proof of its books finds. */
async function unreconciled({ database }: Services): Promise<string[]> {
  const report = await new ReconciliationService(database).run({ full: true });
  if (!report) return ['the reconciliation did not run, because another one did'];
  return report.findings.map((finding) => `reconciliation: ${JSON.stringify(finding)}`);
}

async function missingFiles({ database, files: stored }: Services): Promise<string[]> {
  const { rows } = await database.query<{ id: string; store_key: string | null; sha256: string }>({ text: FILES });
  const missing: string[] = [];
  for (const { id, store_key: key, sha256 } of rows) {
    const bytes = key === null ? null : await stored.read(key);
    if (!bytes || createHash('sha256').update(bytes).digest('hex') !== sha256) missing.push(`${id} lacks its file`);
  }
  return missing;
}

/** Files that no row knows would lie there forever. */
async function strayFiles({ database, files }: Services, taskIds: readonly string[]): Promise<string[]> {
  const { rows } = await database.query<{ store_key: string }>({ text: 'select store_key from task_file' });
  const known = new Set(rows.map(({ store_key: key }) => key));
  return (await files.keysOf(taskIds)).filter((key) => !known.has(key)).map((key) => `${key} belongs to no task`);
}

/** Poison is given up, and nothing else is for what the poison did. */
function judgeCrashes(
  { id, error_code: code }: EndedTask,
  poison: ReadonlySet<string>,
  anyIsDeadly: boolean,
): string[] {
  const parked = code === 'processing_crashed';
  if (poison.has(id)) return parked ? [] : [`${id} is poison and ended with ${code}`];
  return parked && !anyIsDeadly ? [`${id} is innocent and was given up`] : [];
}

function judge(task: EndedTask, vendor: ChaosVendor): string[] {
  const { id, state, error_code: code, last_failure: reason, late_seconds: late } = task;
  if (state !== 'completed' && state !== 'failed') return [`${id} is still ${state} (${reason ?? 'no failure'})`];
  const failures = judgeMaker(task, vendor);
  if (state === 'failed' && !EXPLAINED.has(code ?? '')) failures.push(`${id} failed with ${code} (${reason})`);
  if (late !== null && late > LATE_SECONDS_MAX) failures.push(`${id} ended ${late.toFixed(0)} s after its deadline`);
  if (vendor.webhooked.get(id) !== `task.${state}`)
    failures.push(`${id} is ${state}, its webhook said ${vendor.webhooked.get(id)}`);
  return failures;
}

/** What is sold as made by a vendor was made by one. */
function judgeMaker({ id, state, provider, prompt }: EndedTask, vendor: ChaosVendor): string[] {
  const neverOrdered = state === 'completed' && !vendor.taken.has(prompt);
  return [
    ...(provider === 'sandbox' ? [`${id} was given to the sandbox`] : []),
    ...(neverOrdered ? [`${id} is completed and was never ordered`] : []),
  ];
}
