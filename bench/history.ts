// What a long history costs: requests, and whole tasks, on a database with many ended tasks beside one that is young, in one run. The
// bar is 1.10 of the young one. Arguments: how many ended tasks (10000000 is the long form; each has five records of usage), and
// for how many minutes tasks are made before all is measured once more.
import 'reflect-metadata';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import { Client } from 'pg';
import { FIRST_ACCOUNT_ID, MediaUpstreams, MediaWorker, MediaWorkerModule } from '#features';
import { timeOrderedId } from '#platform';
import { createWorker, openPlatform, type Platform, readProcessConfig } from '#runtime';
import { freePort, startDurableServices } from '#testing';
import { addHistory } from './history-rows.js';
import { cpuSeconds, medianOf, startServer } from './measure.js';
import { postmasterOf, processorSeconds } from './processor-time.js';
import { BENCH_KEY, gatewayEnvironment } from './services.js';
import { addAccount, addTasks, finishTasks } from './task-rows.js';
import { VendorInProcess } from './vendor-in-process.js';

const [TASKS = 500_000, MINUTES = 0] = process.argv.slice(2).map(Number);
/** Enough that each day of a year has records. */
const YOUNG_TASKS = 2_000;
const USAGE_PER_TASK = 5;
const OTHER_ACCOUNTS = 1_000;
/** Ended tasks with a file each, which lists show. */
const LISTED_TASKS = 60;

const CONNECTIONS = 16;
const ROUNDS = 9;
const REQUESTS_A_ROUND = 3_000;
const TASKS_A_ROUND = 500;
const VENDOR_MS = 1_000;

const HEADERS = { authorization: `Bearer ${BENCH_KEY}`, 'content-type': 'application/json' };
const ORDER: autocannon.Request = {
  method: 'POST',
  path: '/v1/images/generations',
  headers: HEADERS,
  body: JSON.stringify({ model: 'eta-image-2.0', prompt: 'x', size: '1:1', resolution: '1K' }),
};

/** A gateway on a database of its own. */
interface Side {
  readonly platform: Platform;
  readonly postmaster: number;
  readonly url: string;
  readonly api: ChildProcess;
  /** An ended task. */
  readonly taskId: string;
  stop(): Promise<void>;
}

/** What one request, or one task, cost. */
interface Cost {
  readonly apiMicroseconds: number;
  readonly postgresMicroseconds: number;
  readonly milliseconds: number;
}

const sides = [await start('young', YOUNG_TASKS), await start('old', TASKS)] as const;
try {
  await measureAll();
  if (MINUTES > 0) {
    const endMs = Date.now() + MINUTES * 60_000;
    let made = 0;
    for (; Date.now() < endMs; made += TASKS_A_ROUND) for (const side of sides) await makeTasks(side, TASKS_A_ROUND);
    console.log(`\nAfter ${made} tasks more on each side, in ${MINUTES} minutes:`);
    await measureAll();
  }
} finally {
  for (const side of sides) await side.stop();
}

async function start(name: string, tasks: number): Promise<Side> {
  const services = await startDurableServices();
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  const environment = {
    ...gatewayEnvironment(services),
    DATA_DIR: folder,
    FREE_REQUESTS_PER_MINUTE: '10000000',
    OPEN_TASKS_PER_ACCOUNT: '1000000',
  };
  const port = await freePort();
  const api = await startServer(['dist/apps/api/src/main.js'], port, environment);
  const platform = await openPlatform(readProcessConfig(environment));
  /** Of its own: filling takes longer than the gateway waits for an answer. */
  const filler = new Client({ connectionString: services.databaseUrl });
  await filler.connect();
  const beganMs = Date.now();
  const { rows: keys } = await filler.query<{ id: string }>("select id from api_key where kind = 'api' limit 1");
  await addHistory(filler, {
    accountId: FIRST_ACCOUNT_ID,
    apiKeyId: keys[0]?.id ?? '',
    usageRows: tasks * USAGE_PER_TASK,
    tasks,
    otherAccounts: OTHER_ACCOUNTS,
  });
  await filler.query('update account set unlimited = true');
  // Else writing it out would go on under what is measured.
  await filler.query('checkpoint');
  const { rows } = await filler.query<{ gigabytes: string }>(
    'select round(pg_database_size(current_database()) / 1e9, 2) as gigabytes',
  );
  const postmaster = await postmasterOf(filler);
  await filler.end();
  const took = Math.round((Date.now() - beganMs) / 1_000);
  console.log(`${name}: ${tasks} ended tasks, ${rows[0]?.gigabytes} GB, written in ${took} s`);
  await addAccount(platform.database, FIRST_ACCOUNT_ID);
  const ids = await addTasks(platform.database, FIRST_ACCOUNT_ID, LISTED_TASKS, 'running');
  await finishTasks(platform.database, ids);
  return {
    platform,
    postmaster,
    url: `http://127.0.0.1:${port}`,
    api,
    taskId: ids[0] ?? '',
    stop: async () => {
      api.kill();
      await platform.close(1_000);
      await services.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function measureAll(): Promise<void> {
  const day = (daysAgo: number): string => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
  console.log('\nMedians of one request or task, the old database against the young one\n');
  console.log('| | ms | ratio | API CPU µs | ratio | Postgres CPU µs | ratio |\n|---|---:|---:|---:|---:|---:|---:|');
  await compare('poll of a task', (side) => get(side, `/v1/tasks/${side.taskId}`));
  await compare('list of 20 tasks', (side) => get(side, '/v1/tasks?limit=20'));
  await compare('balance', (side) => get(side, '/v1/balance'));
  await compare('usage of 30 days by model', (side) =>
    get(side, `/v1/usage?from=${day(29)}&to=${day(0)}&group_by=model`),
  );
  await compare('a task, from its submission to its end', (side) => makeTasks(side, TASKS_A_ROUND));
}

/** Rounds in turn, each first to last and then last to first: what else the machine does hits both alike. */
async function compare(name: string, work: (side: Side) => Promise<Cost>): Promise<void> {
  const costs = sides.map((): Cost[] => []);
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const nth of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const side = sides[nth];
      const cost = side && (await work(side));
      // The first round fills the caches.
      if (cost && round > 0) costs[nth]?.push(cost);
    }
  }
  const cells = (['milliseconds', 'apiMicroseconds', 'postgresMicroseconds'] as const).flatMap((part) => {
    const [young = Number.NaN, old = Number.NaN] = costs.map((of) => medianOf(of.map((cost) => cost[part])));
    return [old.toFixed(part === 'milliseconds' ? 2 : 0), (old / young).toFixed(2)];
  });
  console.log(`| ${name} | ${cells.join(' | ')} |`);
}

function get(side: Side, path: string): Promise<Cost> {
  const request: autocannon.Request = { method: 'GET', path, headers: HEADERS };
  return costOf(side, REQUESTS_A_ROUND, () => load(side, request, REQUESTS_A_ROUND));
}

/** Has tasks submitted and made: claimed, started, polled, stored and settled. */
async function makeTasks(side: Side, count: number): Promise<Cost> {
  const vendor: VendorInProcess = new VendorInProcess(
    5,
    (taskId) => (vendor.started.get(taskId) ?? Infinity) + VENDOR_MS,
  );
  const worker = await createWorker(
    MediaWorkerModule.register('image', 16, side.platform, MediaUpstreams.of(vendor)),
    MediaWorker,
  );
  worker.start();
  const first = timeOrderedId('task');
  const cost = await costOf(side, count, async () => {
    const meanMs = await load(side, ORDER, count);
    while (await hasOpenTasks(side, first)) await sleep(100);
    return meanMs;
  });
  await worker.stop(5_000);
  return cost;
}

async function hasOpenTasks({ platform }: Side, after: string): Promise<boolean> {
  const text = `select exists (select from task where account_id = $1 and id > $2 and finished_at is null) as is_open`;
  const { rows } = await platform.database.query<{ is_open: boolean }>({ text, values: [FIRST_ACCOUNT_ID, after] });
  return rows[0]?.is_open ?? false;
}

/** Answers the mean time of a request in milliseconds. */
async function load({ url }: Side, request: autocannon.Request, amount: number): Promise<number> {
  const result = await autocannon({ url, connections: CONNECTIONS, amount, requests: [request] });
  if (result.non2xx + result.errors > 0) throw new Error(`${request.path}: ${result.non2xx + result.errors} failed`);
  return result.latency.average;
}

async function costOf(side: Side, count: number, work: () => Promise<number>): Promise<Cost> {
  const cpu = (): [number, number] => [cpuSeconds(side.api), processorSeconds(side.postmaster).postgres];
  const before = cpu();
  const milliseconds = await work();
  const after = cpu();
  const [apiMicroseconds = 0, postgresMicroseconds = 0] = after.map(
    (seconds, nth) => ((seconds - (before[nth] ?? 0)) * 1_000_000) / count,
  );
  return { apiMicroseconds, postgresMicroseconds, milliseconds };
}
