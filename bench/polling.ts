// How fast finished work becomes visible, and what a poll of a vendor costs, with 1,000 to 100,000 open tasks on one worker.
import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MediaUpstreams, MediaWorker, MediaWorkerModule } from '#features';
import { createWorker } from '#runtime';
import { startDurableDatabase } from '#testing';
import { type ProcessorSeconds, processorSecondsDuring } from './processor-time.js';
import { openBenchPlatform } from './services.js';
import { addAccount, addTasks } from './task-rows.js';
import { VendorInProcess } from './vendor-in-process.js';
import { percentile, visibleAfter } from './visible-after.js';

const OPEN_TASKS = [1_000, 10_000, 100_000] as const;
/** The processor time of an idle worker, and that of polls of vendors that finish nothing. */
const IDLE_MS = 5_000;
const WARM_UP_MS = 5_000;
const COST_MS = 15_000;
/** How many tasks their vendor finishes each second, and how many in all. */
const DONE_PER_SECOND = 40;
const DONE_TASKS = 600;

const postgres = await startDurableDatabase();
const postmaster = Number(readFileSync(join(postgres.folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
const platform = await openBenchPlatform(postgres);
const { database } = platform;
await addAccount(database, 'acct_bench');
const idle = await idleCost();
const perSecond = (seconds: number): string => `${((seconds * 1_000_000) / IDLE_MS).toFixed(1)} ms`;
console.log(
  `\nAn idle worker uses ${perSecond(idle.own)} of CPU a second and ${perSecond(idle.postgres)} of Postgres; costs of looks are on top of it.\n`,
);
console.log(
  '| open tasks | looks/s | each task every | CPU µs per look: worker | Postgres | done to seen p50 | p95 | to visible p50 | p95 | p99 |',
);
console.log('|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|');
for (const openTasks of OPEN_TASKS) console.log(await measure(openTasks));
await platform.close(1_000);
await postgres.stop();

async function startWorker(vendor: VendorInProcess): Promise<MediaWorker> {
  const worker = await createWorker(
    MediaWorkerModule.register('image', 16, platform, MediaUpstreams.of(vendor)),
    MediaWorker,
  );
  worker.start();
  return worker;
}

async function idleCost(): Promise<ProcessorSeconds> {
  const worker = await startWorker(new VendorInProcess(0, () => Number.POSITIVE_INFINITY));
  await sleep(WARM_UP_MS);
  const cost = await processorSecondsDuring(IDLE_MS, postmaster);
  await worker.stop(1_000);
  return cost;
}

async function measure(openTasks: number): Promise<string> {
  await database.query({ text: 'truncate task, task_poll, task_poll_schedule, task_file, ledger_entry cascade' });
  const ids = await addTasks(database, 'acct_bench', openTasks, 'running');
  await database.query({ text: 'vacuum analyze task' });
  const doneAt = new Map<string, number>();
  const vendor = new VendorInProcess(0, (taskId) => doneAt.get(taskId) ?? Number.POSITIVE_INFINITY);
  const worker = await startWorker(vendor);
  await sleep(WARM_UP_MS);
  // The server does it within a minute by itself, and a claim without it is planned for an empty table.
  await database.query({ text: 'analyze task_poll' });
  await sleep(WARM_UP_MS);
  const checks = vendor.checks;
  const cost = await processorSecondsDuring(COST_MS, postmaster);
  const looks = vendor.checks - checks;
  const step = openTasks / Math.min(openTasks / 2, DONE_TASKS);
  const finishing = ids.filter((_, index) => Math.floor(index / step) < Math.floor((index + 1) / step));
  const beganMs = Date.now();
  for (const [index, taskId] of finishing.entries()) doneAt.set(taskId, beganMs + (index * 1000) / DONE_PER_SECOND);
  await sleep((finishing.length * 1000) / DONE_PER_SECOND);
  const { seen, visible } = await visibleAfter(database, doneAt);
  await worker.stop(5_000);
  const perLook = (used: number, whileIdle: number): string =>
    (((used - (whileIdle * COST_MS) / IDLE_MS) * 1_000_000) / looks).toFixed(0);
  const looksPerSecond = (looks * 1000) / COST_MS;
  const cells = [
    openTasks.toLocaleString('en'),
    Math.round(looksPerSecond).toLocaleString('en'),
    `${(openTasks / looksPerSecond).toFixed(1)} s`,
    perLook(cost.own, idle.own),
    perLook(cost.postgres, idle.postgres),
    ...[0.5, 0.95].map((part) => `${(percentile(seen, part) / 1000).toFixed(1)} s`),
    ...[0.5, 0.95, 0.99].map((part) => `${(percentile(visible, part) / 1000).toFixed(1)} s`),
  ];
  return `| ${cells.join(' | ')} |`;
}
