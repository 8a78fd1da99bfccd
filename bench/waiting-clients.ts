// 5,000 clients that wait for their tasks on one API process: what they cost while nothing happens, and how fast they hear.
import 'reflect-metadata';
import { request } from 'node:http';
import { openPlatform, readProcessConfig } from '#runtime';
import { freePort, startDurableServices } from '#testing';
import { startServer } from './measure.js';
import { BENCH_KEY, gatewayEnvironment } from './services.js';
import { addAccount, addTasks } from './task-rows.js';

const CLIENTS = 5_000;
const QUIET_MS = 10_000;
/** A connection of Postgres that falls idle reports what it did ten seconds later. */
const STATISTICS_LAG_MS = 11_000;
/** How many tasks end each second once they do. */
const ENDS_PER_SECOND = 500;

const services = await startDurableServices();
const environment = gatewayEnvironment(services);
const port = await freePort();
const api = await startServer(['dist/apps/api/src/main.js'], port, environment);
const platform = await openPlatform(readProcessConfig({ ...environment, DATA_DIR: '.data' }));
const { database, taskSignals } = platform;
const { rows: accounts } = await database.query<{ id: string }>({ text: 'select id from account' });
const accountId = accounts[0]?.id ?? '';
await addAccount(database, accountId);
const ids = await addTasks(database, accountId, CLIENTS, 'running');

const withoutClients = await statementsPerSecond();
const answeredAt = new Map<string, number>();
const answers: Promise<void>[] = [];
const connections = { open: 0, again: 0 };
for (const [index, taskId] of ids.entries()) {
  answers.push(waitFor(taskId, index % 2 === 0 ? '?wait=55' : '/events'));
  // In steps, because the system's queue of new connections holds some hundreds.
  if (index % 50 === 49) await sleep(50);
}
while (connections.open < CLIENTS) await sleep(100);
// Until the server has counted what connecting cost.
await sleep(STATISTICS_LAG_MS);
const withClients = await statementsPerSecond();

const endedAt = new Map<string, number>();
for (let start = 0; start < ids.length; start += ENDS_PER_SECOND / 10) {
  const ending = ids.slice(start, start + ENDS_PER_SECOND / 10);
  await database.query({
    text: `update task set state = 'failed', error_code = 'upstream_error', charged_micros = 0, finished_at = now(), version = version + 1
      where id = any($1)`,
    values: [ending],
  });
  for (const taskId of ending) endedAt.set(taskId, performance.now());
  taskSignals.publish(ending);
  await sleep(100);
}
await Promise.all(answers);
const delays = ids.map((id) => (answeredAt.get(id) ?? Infinity) - (endedAt.get(id) ?? 0)).sort((a, b) => a - b);
const percentile = (part: number): string => (delays[Math.floor((delays.length - 1) * part)] ?? 0).toFixed(0);
console.log(
  `\n${CLIENTS.toLocaleString('en')} waiting clients on one API process, half by wait, half by events, signals through Redis; ${connections.again} reconnects.\n`,
);
console.log('| while nothing happens | statements to Postgres a second |\n|---|---:|');
console.log(`| no client | ${withoutClients.toFixed(1)} |`);
console.log(`| ${CLIENTS.toLocaleString('en')} clients that wait | ${withClients.toFixed(1)} |`);
console.log(`| the same, asking every two seconds | ${(CLIENTS / 2).toFixed(1)} |`);
console.log('\n| tasks ended each second | sent after p50 | p95 | longest |\n|---:|---:|---:|---:|');
console.log(`| ${ENDS_PER_SECOND} | ${percentile(0.5)} ms | ${percentile(0.95)} ms | ${percentile(1)} ms |`);
await platform.close(1_000);
api.kill();
await services.stop();

/** Waits as a patient client does: a connection that is refused or cut is opened again, and a wait that ran out is repeated. */
function waitFor(taskId: string, how: string): Promise<void> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${BENCH_KEY}` };
    let isOpen = false;
    const over = (): void => {
      if (isOpen) connections.open -= 1;
      isOpen = false;
    };
    const asked = request({ port, path: `/v1/tasks/${taskId}${how}`, headers, agent: false }, (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (text.includes('"status":"failed"') && !answeredAt.has(taskId)) answeredAt.set(taskId, performance.now());
      });
      answer.on('end', () => {
        over();
        resolve(answeredAt.has(taskId) ? undefined : waitFor(taskId, how));
      });
    });
    asked.on('socket', (socket) =>
      socket.on('connect', () => {
        isOpen = true;
        connections.open += 1;
      }),
    );
    asked.on('error', () => {
      over();
      connections.again += 1;
      setTimeout(() => resolve(waitFor(taskId, how)), 500);
    });
    asked.end();
  });
}

/** Statements of all processes together while nothing happens; those that count them included. */
async function statementsPerSecond(): Promise<number> {
  const before = await statements();
  await sleep(QUIET_MS);
  return ((await statements()) - before) / (QUIET_MS / 1000);
}

/** Transactions that the server has committed so far. */
async function statements(): Promise<number> {
  const { rows } = await database.query<{ commits: bigint }>({
    text: 'select xact_commit as commits from pg_stat_database where datname = current_database()',
  });
  return Number(rows[0]?.commits ?? 0);
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
