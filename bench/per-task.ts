// What one task costs the shared servers: transactions of Postgres and commands of Redis, from submission to webhook-less end.
import 'reflect-metadata';
import { Redis } from 'ioredis';
import { MediaUpstreams, MediaWorker, MediaWorkerModule } from '#features';
import { createWorker, openPlatform, readProcessConfig } from '#runtime';
import { freePort, startDurableServices } from '#testing';
import { startServer } from './measure.js';
import { BENCH_KEY, gatewayEnvironment } from './services.js';
import { VendorInProcess } from './vendor-in-process.js';

const TASKS = 400;
const PER_SECOND = 40;
/** How long each vendor works, in milliseconds: about eight polls. */
const VENDOR_MS = 8_000;
const IDLE_MS = 10_000;
/** A connection of Postgres that falls idle reports what it did ten seconds later. */
const STATISTICS_LAG_MS = 11_000;

/** What the servers have done so far. */
interface Counts {
  readonly transactions: number;
  readonly commands: number;
  readonly atMs: number;
}

const services = await startDurableServices();
const environment = { ...gatewayEnvironment(services), DATA_DIR: '.data/bench' };
const port = await freePort();
const api = await startServer(['dist/apps/api/src/main.js'], port, environment);
const platform = await openPlatform(readProcessConfig(environment));
const { database } = platform;
await database.query({ text: 'update account set unlimited = true' });
const redis = new Redis(services.redisUrl);
const vendor: VendorInProcess = new VendorInProcess(
  5,
  (taskId) => (vendor.started.get(taskId) ?? Infinity) + VENDOR_MS,
);
const worker = await createWorker(
  MediaWorkerModule.register('image', 16, platform, MediaUpstreams.of(vendor)),
  MediaWorker,
);
worker.start();
await sleep(2_000);

const start = await counts();
await sleep(IDLE_MS);
const before = await counts();
const idleSeconds = (before.atMs - start.atMs) / 1000;
const idle = {
  transactions: (before.transactions - start.transactions) / idleSeconds,
  commands: (before.commands - start.commands) / idleSeconds,
};
const beganMs = Date.now();
for (let count = 0; count < TASKS; count += 1) {
  void submit();
  await sleep(1000 / PER_SECOND);
}
for (;;) {
  const { rows } = await database.query<{ open: bigint }>({
    text: 'select count(*) as open from task where finished_at is null',
  });
  if (rows[0]?.open === 0n && Date.now() - beganMs > VENDOR_MS) break;
  await sleep(500);
}
const after = await counts();
const seconds = (after.atMs - before.atMs) / 1000;
const perTask = (total: number, idlePerSecond: number): string =>
  ((total - idlePerSecond * seconds) / TASKS).toFixed(1);
console.log(
  `\n${TASKS} tasks at ${PER_SECOND}/s, ${(vendor.checks / TASKS).toFixed(1)} polls each; one API, one worker.`,
);
console.log('| | while idle, per second | per task |\n|---|---:|---:|');
console.log(
  `| Postgres transactions | ${idle.transactions.toFixed(1)} | ${perTask(after.transactions - before.transactions, idle.transactions)} |`,
);
console.log(
  `| Redis commands | ${idle.commands.toFixed(1)} | ${perTask(after.commands - before.commands, idle.commands)} |`,
);
await worker.stop(5_000);
redis.disconnect();
await platform.close(1_000);
api.kill();
await services.stop();

async function submit(): Promise<void> {
  await fetch(`http://127.0.0.1:${port}/v1/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${BENCH_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'eta-image-2.0', prompt: 'x', size: '1:1', resolution: '1K' }),
  });
}

async function counts(): Promise<Counts> {
  await sleep(STATISTICS_LAG_MS);
  const { rows } = await database.query<{ commits: bigint }>({
    text: 'select xact_commit as commits from pg_stat_database where datname = current_database()',
  });
  const commands = Number(/total_commands_processed:(\d+)/.exec(await redis.info('stats'))?.[1]);
  return { transactions: Number(rows[0]?.commits ?? 0), commands, atMs: Date.now() };
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
