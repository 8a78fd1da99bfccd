// Every list of the console, at the server and over its routes, over ten million records of usage and a million tasks, half of
// them of the account that is looked at; the bar is 100 ms each. Records and tasks as arguments for fewer. Times grow with
// what else the machine does, the slowest most; the processor time of Postgres does not.
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { ConsoleApi } from '#contracts';
import { startDurableServices } from '#testing';
import { type ConsoleClient, consoleClient } from '../tests/harness/console-client.js';
import { consoleLinks } from '../tests/harness/console-link.js';
import { startTestGateway } from '../tests/harness/test-gateway.js';
import { addHistory } from './history-rows.js';
import { postmasterOf, processorSeconds } from './processor-time.js';

const [USAGE_ROWS = 10_000_000, TASKS = 1_000_000] = process.argv.slice(2).map(Number);
const BAR_MS = 100;
const REPEATS = 15;
const DEEP_PAGES = 20;

const services = await startDurableServices();
const dataDirectory = await mkdtemp(join(tmpdir(), 'gateway-bench-'));
/** Of its own: filling takes longer than the gateway waits for an answer. */
const database = new Client({ connectionString: services.databaseUrl });
await database.connect();
const place = { databaseUrl: services.databaseUrl, dataDirectory, remove: () => Promise.resolve() };
const gateway = await startTestGateway({ workers: false, place, environment: { ADMIN_TOKEN: 'a-token-of-the-bench' } });
try {
  const { rows } = await database.query<{ id: string }>({ text: "select id from api_key where kind = 'api' limit 1" });
  const beganAt = performance.now();
  await addHistory(database, {
    accountId: gateway.accountId,
    apiKeyId: rows[0]?.id ?? '',
    usageRows: USAGE_ROWS,
    tasks: TASKS,
    otherAccounts: 200,
  });
  console.log(`the rows were written in ${Math.round((performance.now() - beganAt) / 1_000)} s`);
  const links = await consoleLinks(gateway);
  const person = consoleClient(gateway);
  await person.call('POST /sign-in/link', { code: new URL(await links.next()).hash.replace('#code=', '') });
  await links.close();
  await measureAll(person, await lists(person));
} finally {
  await gateway.stop();
  await database.end();
  await services.stop();
  await rm(dataDirectory, { recursive: true, force: true });
}

type ReadRoute = Extract<keyof ConsoleApi, `GET ${string}`>;
type List = readonly [name: string, route: ReadRoute, path: string];

async function lists(person: ConsoleClient): Promise<List[]> {
  const day = (daysAgo: number): string => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
  const [month, year] = [`from=${day(29)}&to=${day(0)}`, `from=${day(364)}&to=${day(0)}`];
  const account = gateway.accountId;
  const deep = async (route: ReadRoute, path: string): Promise<string> => {
    let cursor = '';
    for (let page = 0; page < DEEP_PAGES; page += 1) {
      const { body } = await person.call(route, {}, `${path}&limit=100${cursor}`);
      const { next_cursor: next } = body as { next_cursor: string | null };
      if (next === null) break;
      cursor = `&cursor=${encodeURIComponent(next)}`;
    }
    return `${path}${cursor}`;
  };
  return [
    ['overview', 'GET /overview', '/overview'],
    ['tasks', 'GET /tasks', '/tasks'],
    ['tasks, 2,000 down', 'GET /tasks', await deep('GET /tasks', '/tasks?')],
    ['tasks that failed', 'GET /tasks', '/tasks?status=failed'],
    ['tasks that were cancelled', 'GET /tasks', '/tasks?status=cancelled'],
    ['tasks in progress', 'GET /tasks', '/tasks?status=in_progress'],
    ['tasks of a model', 'GET /tasks', '/tasks?model=model-2'],
    ['tasks of a model that failed', 'GET /tasks', '/tasks?model=model-10&status=failed'],
    ['tasks of a kind in a week', 'GET /tasks', `/tasks?type=video&from=${day(40)}&to=${day(33)}`],
    ['tasks by words of the prompt', 'GET /tasks', '/tasks?text=number%2099'],
    ['tasks by words that none has', 'GET /tasks', '/tasks?text=words%20in%20no%20task'],
    ['usage of 30 days by day and model', 'GET /usage', `/usage?${month}&group_by=day,model`],
    ['usage of a year by day, model and key', 'GET /usage', `/usage?${year}&group_by=day,model,key`],
    ['records of usage', 'GET /usage/records', `/usage/records?${month}`],
    ['records of usage, 2,000 down', 'GET /usage/records', await deep('GET /usage/records', `/usage/records?${year}`)],
    ['billing', 'GET /billing', '/billing'],
    ['ledger', 'GET /billing/entries', '/billing/entries'],
    ['ledger, 2,000 down', 'GET /billing/entries', await deep('GET /billing/entries', '/billing/entries?')],
    ['ledger of a request', 'GET /billing/entries', '/billing/entries?request_id=req_task_22222'],
    ['keys', 'GET /keys', '/keys'],
    ['models', 'GET /models', '/models'],
    ['deliveries of webhooks', 'GET /webhooks/deliveries', '/webhooks/deliveries'],
    ['accounts', 'GET /admin/accounts', '/admin/accounts'],
    ['accounts by name', 'GET /admin/accounts', '/admin/accounts?name=Studio%20199'],
    ['ledger of an account', 'GET /admin/accounts/:account_id/entries', `/admin/accounts/${account}/entries`],
    ['all tasks', 'GET /admin/tasks', '/admin/tasks'],
    ['all tasks that failed', 'GET /admin/tasks', '/admin/tasks?status=failed'],
    ['all tasks in progress', 'GET /admin/tasks', '/admin/tasks?status=in_progress'],
    ['all tasks of a model', 'GET /admin/tasks', '/admin/tasks?model=model-7'],
    ['all tasks of an account', 'GET /admin/tasks', '/admin/tasks?account_id=acct_7'],
    ['tasks that need attention', 'GET /admin/tasks-needing-attention', '/admin/tasks-needing-attention'],
    ['prices', 'GET /admin/prices', '/admin/prices'],
    ['upstreams', 'GET /admin/upstreams', '/admin/upstreams'],
    ['reports of the reconciliation', 'GET /admin/reconciliations', '/admin/reconciliations'],
    ['audit', 'GET /admin/audit', '/admin/audit'],
    ['audit of an account', 'GET /admin/audit', '/admin/audit?subject_id=acct_7'],
    ['people', 'GET /admin/people', '/admin/people'],
    ['overview of operators', 'GET /admin/overview', '/admin/overview'],
  ];
}

async function measureAll(person: ConsoleClient, measured: readonly List[]): Promise<void> {
  const postmaster = await postmasterOf(database);
  console.log(`\nLists over ${USAGE_ROWS} records of usage and ${TASKS} tasks\n`);
  console.log(
    `| list | median ms | slowest of ${REPEATS} | below ${BAR_MS} ms | Postgres CPU ms | load |\n|---|---|---|---|---|---|`,
  );
  for (const [name, route, path] of measured) {
    const before = processorSeconds(postmaster).postgres;
    const times = await timesOf(async () => {
      const { status } = await person.call(route, {}, path);
      if (status !== 200) throw new Error(`${path} answers ${status}`);
    });
    const cpuMs = (1_000 * (processorSeconds(postmaster).postgres - before)) / (REPEATS + 1);
    const [median = Number.NaN, slowest = Number.NaN] = [times[Math.floor(REPEATS / 2)], times.at(-1)];
    const verdict = slowest < BAR_MS ? 'yes' : median < BAR_MS ? 'median' : 'NO';
    const figures = [median.toFixed(1), slowest.toFixed(1), verdict, cpuMs.toFixed(0), loadavg()[0]?.toFixed(1)];
    console.log(`| ${name} | ${figures.join(' | ')} |`);
  }
}

/** After one that fills the caches, in order. */
async function timesOf(read: () => Promise<void>): Promise<number[]> {
  const times: number[] = [];
  await read();
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    const startedAt = performance.now();
    await read();
    times.push(performance.now() - startedAt);
  }
  return times.sort((first, second) => first - second);
}
