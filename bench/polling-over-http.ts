// The same as bench/polling.ts with one HTTP exchange for each look: 10,000 open tasks at another gateway, on one worker.
import 'reflect-metadata';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MediaUpstreams, MediaWorker, MediaWorkerModule } from '#features';
import { MediaUpstreamEntry, openMediaUpstreams } from '#providers';
import { createWorker } from '#runtime';
import { startDurableDatabase } from '#testing';
import { processorSecondsDuring } from './processor-time.js';
import { openBenchPlatform } from './services.js';
import { addAccount, addTasks } from './task-rows.js';
import { percentile, visibleAfter } from './visible-after.js';

const OPEN_TASKS = Number(process.argv[2] ?? 10_000);
const WARM_UP_MS = 10_000;
const COST_MS = 15_000;
const DONE_PER_SECOND = 40;
const DONE_TASKS = Math.min(600, OPEN_TASKS / 2);

const postgres = await startDurableDatabase();
const postmaster = Number(readFileSync(join(postgres.folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
const vendor = fork('bench/gateway-vendor-server.ts', { execArgv: process.execArgv });
const [{ port }] = (await once(vendor, 'message')) as [{ port: number }];
const platform = await openBenchPlatform(postgres, { MEDIA_FETCH_ALLOW: `127.0.0.1:${port}` });
const { database } = platform;
await addAccount(database, 'acct_bench');
const ids = await addTasks(database, 'acct_bench', OPEN_TASKS, 'running');
await database.query({
  text: `update task set provider = 'peer', operation = jsonb_build_object('taskId', id, 'medium', 'image', 'count', 1)`,
});
await database.query({ text: 'vacuum analyze task' });

const media = openMediaUpstreams();
const entry = Object.assign(new MediaUpstreamEntry(), {
  id: 'peer',
  protocol: 'gateway',
  base_url: `http://127.0.0.1:${port}`,
  key: 'sk-bench-0123456789',
  models: 'all',
} as const);
const upstreams = new MediaUpstreams();
upstreams.exchange([media.open(entry)]);
const worker = await createWorker(MediaWorkerModule.register('image', 16, platform, upstreams), MediaWorker);
worker.start();
await sleep(WARM_UP_MS / 2);
await database.query({ text: 'analyze task_poll' });
await sleep(WARM_UP_MS / 2);

const before = await askVendor();
const cost = await processorSecondsDuring(COST_MS, postmaster);
const looks = (await askVendor()) - before;
const step = Math.floor(OPEN_TASKS / DONE_TASKS);
const beganMs = Date.now();
const finishing = ids.filter((_, index) => index % step === 0).slice(0, DONE_TASKS);
const doneAt = new Map(finishing.map((id, index) => [id, beganMs + (index * 1000) / DONE_PER_SECOND]));
await askVendor(Object.fromEntries(doneAt));
await sleep((finishing.length * 1000) / DONE_PER_SECOND);
const { seen, visible } = await visibleAfter(database, doneAt);

const perLook = (seconds: number): string => ((seconds * 1_000_000) / looks).toFixed(0);
const looksPerSecond = (looks * 1000) / COST_MS;
const cells = [
  OPEN_TASKS.toLocaleString('en'),
  Math.round(looksPerSecond).toLocaleString('en'),
  `${(OPEN_TASKS / looksPerSecond).toFixed(1)} s`,
  perLook(cost.own),
  perLook(cost.postgres),
  ...[0.5, 0.95].map((part) => `${(percentile(seen, part) / 1000).toFixed(1)} s`),
  ...[0.5, 0.95, 0.99].map((part) => `${(percentile(visible, part) / 1000).toFixed(1)} s`),
];
console.log(
  '\n| open tasks | looks/s | each task every | CPU µs per look: worker | Postgres | done to seen p50 | p95 | to visible p50 | p95 | p99 |',
);
console.log('|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|');
console.log(`| ${cells.join(' | ')} |`);

await worker.stop(5_000);
await media.close();
vendor.kill();
await platform.close(1_000);
await postgres.stop();
process.exit(0);

/** How often it was asked so far; `done` tells it when tasks end. */
async function askVendor(done?: Readonly<Record<string, number>>): Promise<number> {
  vendor.send({ done });
  const [{ asked }] = (await once(vendor, 'message')) as [{ asked: number }];
  return asked;
}
