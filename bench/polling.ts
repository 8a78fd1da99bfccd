// How fast finished work becomes visible, and what a poll costs, with 1,000 to 100,000 open tasks on one worker.
import 'reflect-metadata';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMediaWorker } from '#features';
import { type Database, migrate, openPlatform, readProcessConfig, startEmbeddedPostgres } from '#platform';
import { MediaProviderRegistry } from '#providers';
import { processorSeconds } from './processor-time.js';
import { addAccount, addTasks } from './task-rows.js';
import { VendorInProcess } from './vendor-in-process.js';

const OPEN_TASKS = [1_000, 10_000, 100_000] as const;
const MEASURE_MS = 20_000;
const WARM_UP_MS = 5_000;
/** How many tasks their vendor finishes each second while measuring. */
const DONE_PER_SECOND = 40;

const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
const postgres = await startEmbeddedPostgres(folder);
await migrate(postgres.url);
const postmaster = Number(readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
console.log(
  '\n| open tasks | polls/s | each task every | CPU µs per poll: worker | Postgres | done to visible p50 | p95 | p99 |',
);
console.log('|---:|---:|---:|---:|---:|---:|---:|---:|');
for (const openTasks of OPEN_TASKS) console.log(await measure(openTasks));
await postgres.stop();
rmSync(folder, { recursive: true, force: true });

async function measure(openTasks: number): Promise<string> {
  const platform = await openPlatform(
    readProcessConfig({ DATABASE_URL: postgres.url, KEY_PEPPER: 'a-pepper-for-benchmarks', DATA_DIR: folder }),
  );
  const { database } = platform;
  await database.query({ text: 'truncate task, task_poll, task_poll_schedule, task_file, ledger_entry cascade' });
  await addAccount(database, 'acct_bench');
  const ids = await addTasks(database, 'acct_bench', openTasks, 'running');
  await database.query({ text: 'vacuum analyze task' });
  const doneAt = new Map<string, number>();
  const vendor = new VendorInProcess(0, (taskId) => doneAt.get(taskId) ?? Number.POSITIVE_INFINITY);
  const worker = createMediaWorker('image', 16, platform, new MediaProviderRegistry({ sandbox: vendor }));
  worker.start();
  await sleep(WARM_UP_MS);
  const beganMs = Date.now();
  const finishing = ids.filter((_, index) => index % Math.floor(openTasks / finishingCount(openTasks)) === 0);
  for (const [index, taskId] of finishing.entries()) doneAt.set(taskId, beganMs + (index * 1000) / DONE_PER_SECOND);
  const [cpu, checks] = [processorSeconds(postmaster), vendor.checks];
  await sleep(MEASURE_MS);
  const [cpuAfter, polls] = [processorSeconds(postmaster), vendor.checks - checks];
  await sleep(openTasks > 20_000 ? 25_000 : 5_000);
  const delays = await visibleAfter(database, doneAt);
  await worker.stop(5_000);
  await platform.close(1_000);
  const perPoll = (seconds: number): string => ((seconds * 1_000_000) / polls).toFixed(0);
  const pollsPerSecond = (polls * 1000) / MEASURE_MS;
  return `| ${openTasks} | ${pollsPerSecond.toFixed(0)} | ${(openTasks / pollsPerSecond).toFixed(1)} s | ${perPoll(cpuAfter.own - cpu.own)} | ${perPoll(cpuAfter.postgres - cpu.postgres)} | ${percentile(delays, 0.5)} ms | ${percentile(delays, 0.95)} ms | ${percentile(delays, 0.99)} ms |`;
}

/** Never more than a third of the tasks, so that as many stay open as the row says. */
function finishingCount(openTasks: number): number {
  return Math.min(openTasks / 3, (DONE_PER_SECOND * MEASURE_MS) / 1000);
}

/** Milliseconds from the vendor's end to the commit that clients see, sorted. */
async function visibleAfter(database: Database, doneAt: ReadonlyMap<string, number>): Promise<number[]> {
  const { rows } = await database.query<{ id: string; finished_at: Date }>({
    text: `select id, finished_at from task where state = 'completed'`,
  });
  if (rows.length < doneAt.size) console.log(`only ${rows.length} of ${doneAt.size} finished tasks became visible`);
  return rows.map(({ id, finished_at }) => finished_at.getTime() - (doneAt.get(id) ?? 0)).sort((a, b) => a - b);
}

function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
