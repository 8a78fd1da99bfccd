// How long another account's first task waits behind 10,000 queued ones, and what a fair claim costs.
import 'reflect-metadata';
import { CLAIM_DUE, MediaUpstreams, MediaWorker, MediaWorkerModule } from '#features';
import type { Database } from '#platform';
import { createWorker } from '#runtime';
import { startDurableDatabase } from '#testing';
import { openBenchPlatform } from './services.js';
import { addAccount, addTasks } from './task-rows.js';
import { VendorInProcess } from './vendor-in-process.js';

const BACKLOG = 10_000;
const NEWCOMERS = 30;
/** How long the vendor takes to accept an order. */
const VENDOR_MS = 100;

const postgres = await startDurableDatabase();
await firstTaskBehindBacklog();
await postgres.stop();

async function firstTaskBehindBacklog(): Promise<void> {
  const platform = await openBenchPlatform(postgres);
  const { database, notifier } = platform;
  await addAccount(database, 'acct_busy');
  const backlog = await addTasks(database, 'acct_busy', BACKLOG, 'queued');
  const vendor = new VendorInProcess(VENDOR_MS, () => Number.POSITIVE_INFINITY);
  const worker = await createWorker(
    MediaWorkerModule.register('image', 16, platform, MediaUpstreams.of(vendor)),
    MediaWorker,
  );
  worker.start();
  const waits: number[] = [];
  for (let newcomer = 0; newcomer < NEWCOMERS; newcomer += 1) {
    const accountId = `acct_new${newcomer}`;
    await addAccount(database, accountId);
    const submittedMs = Date.now();
    const [taskId = ''] = await addTasks(database, accountId, 1, 'queued');
    notifier.notify('image', [taskId]);
    while (!vendor.started.has(taskId)) await new Promise((resolve) => setTimeout(resolve, 5));
    waits.push((vendor.started.get(taskId) ?? 0) - submittedMs);
  }
  const ahead = backlog.filter((taskId) => !vendor.started.has(taskId)).length;
  await worker.stop(5_000);
  waits.sort((first, second) => first - second);
  console.log(
    '\n| busy account: queued | still waiting at the end | newcomers | first task started after p50 | longest |',
  );
  console.log('|---:|---:|---:|---:|---:|');
  const cells = [BACKLOG, ahead, NEWCOMERS, `${waits[NEWCOMERS / 2]} ms`, `${waits.at(-1)} ms`];
  console.log(`| ${cells.map((cell) => cell.toLocaleString('en')).join(' | ')} |`);
  console.log(`\nStarted: the vendor has said yes, which takes it ${VENDOR_MS} ms.`);
  await claimCost(database);
  await platform.close(1_000);
}

/** The claim of one task, timed by the server, with backlogs of ever more accounts. */
async function claimCost(database: Database): Promise<void> {
  console.log('\n| accounts with a backlog | claim of 1 task, ms |\n|---:|---:|');
  let accounts = 0;
  for (const target of [1, 10, 100, 1_000]) {
    for (; accounts < target; accounts += 1) {
      await addAccount(database, `acct_many${accounts}`);
      await addTasks(database, `acct_many${accounts}`, 10, 'queued');
    }
    await database.query({ text: 'analyze task' });
    console.log(`| ${target} | ${await medianClaimMs(database)} |`);
  }
}

async function medianClaimMs(database: Database): Promise<string> {
  const times: number[] = [];
  for (let round = 0; round < 21; round += 1) {
    const beganMs = performance.now();
    await database.query({ name: 'claim_due', text: CLAIM_DUE, values: ['image', 'bench', 15_000, 1, [], {}, {}] });
    times.push(performance.now() - beganMs);
  }
  return times.sort((first, second) => first - second)[10]?.toFixed(2) ?? '';
}
