// The API of another checkout against this one, in turn, so that what else the machine does hits both alike:
// `npm run bench:against -- /path/to/built/checkout`, and a part of the titles of its tables to print those alone. Each has
// a database of its own.
import { type ChildProcess, execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Database } from '#platform';
import type autocannon from 'autocannon';
import { BENCH_BODY } from './gateway-pair.js';
import { type DurableServices, freePort, startDurableServices } from '#testing';
import { measure, printTable, startServer } from './measure.js';
import { BENCH_KEY, gatewayEnvironment } from './services.js';
import { writeTextPrices } from './text-prices.js';

const HEADERS = { authorization: `Bearer ${BENCH_KEY}`, 'content-type': 'application/json' };
const CONNECTIONS = 32;
const API = 'dist/apps/api/src/main.js';

interface Side {
  readonly name: string;
  readonly url: string;
  readonly process: ChildProcess;
  readonly taskId: string;
}

const other = resolve(process.argv[2] ?? '');
if (process.argv[2] === undefined || !existsSync(join(other, API)))
  throw new Error('Name a checkout in which "npm ci && npm run build" was run.');

const services = await startDurableServices();
const servers: ChildProcess[] = [];
// Also when a start fails.
process.on('exit', () => servers.forEach((server) => server.kill()));
const vendorPort = await freePort();
servers.push(
  await startServer(['--import', './scripts/typescript.mjs', 'bench/text-vendor-server.ts'], vendorPort, {
    STREAM_EVENTS: '500',
  }),
);
const upstreams = join(tmpdir(), `bench-upstreams-${process.pid}.yaml`);
const vendorUrl = `http://127.0.0.1:${vendorPort}/v1`;
writeFileSync(
  upstreams,
  `upstreams:
  - { id: same, protocol: responses, base_url: "${vendorUrl}", models: { vendor-5: vendor-5 } }
  - { id: other, protocol: chat, base_url: "${vendorUrl}", models: { vendor-4o-image: m } }
`,
);
const prices = writeTextPrices(join(tmpdir(), `bench-prices-${process.pid}.yaml`), ['vendor-5', 'vendor-4o-image']);
appendFileSync(prices, "  - { model: beta-2.5-preview, unit: second, variant: 480p, amount: '0.05' }\n");

const old = await startSide('old', other, services);
const today = await startSide('new', process.cwd(), services);
try {
  await compare('Submission', () => ({ method: 'POST', path: '/v1/videos/generations', body: BENCH_BODY }));
  await compare('Poll of a task', ({ taskId }) => ({ method: 'GET', path: `/v1/tasks/${taskId}` }));
  for (const [name, model] of [
    ['same protocol', 'vendor-5'],
    ['translated to chat', 'vendor-4o-image'],
  ] as const) {
    await compare(`Whole reply, short prompt, ${name}`, () => text(model, 100, false));
    await compare(`Whole reply, 32 KB prompt, ${name}`, () => text(model, 32_768, false));
    await compare(`Whole reply, 128 KB prompt, ${name}`, () => text(model, 131_072, false));
    await compare(`Stream of 500 events, ${name}`, () => text(model, 100, true));
  }
} finally {
  for (const server of servers) server.kill();
  await services.stop();
}

async function startSide(name: string, cwd: string, shared: DurableServices): Promise<Side> {
  const database = new Database(shared.databaseUrl);
  await database.query({ text: `create database side_${name}` });
  await database.close();
  const url = new URL(shared.databaseUrl);
  url.pathname = `/side_${name}`;
  const environment = {
    ...gatewayEnvironment({ ...shared, databaseUrl: url.href }),
    QUEUE_PREFIX: `{${name}}`,
    UPSTREAMS_FILE: upstreams,
    PRICES_FILE: prices,
  };
  execFileSync(process.execPath, ['scripts/migrate.mjs'], { cwd, env: { ...process.env, ...environment } });
  const port = await freePort();
  const server = await startServer([API], port, environment, { cwd });
  servers.push(server);
  const own = new Database(url.href);
  await own.query({ text: 'update account set unlimited = true' });
  await own.close();
  const base = `http://127.0.0.1:${port}`;
  const body = BENCH_BODY;
  const answer = await fetch(`${base}/v1/videos/generations`, { method: 'POST', headers: HEADERS, body });
  if (!answer.ok) throw new Error(`The ${name} API answered ${answer.status}: ${await answer.text()}`);
  const { data } = (await answer.json()) as { data: { task_id: string }[] };
  return { name, url: base, process: server, taskId: data[0]?.task_id ?? '' };
}

function text(model: string, characters: number, stream: boolean): autocannon.Request {
  const body = JSON.stringify({ model, input: 'word '.repeat(characters / 5), stream, store: false });
  return { method: 'POST', path: '/v1/responses', body };
}

async function compare(title: string, request: (side: Side) => autocannon.Request): Promise<void> {
  if (!title.includes(process.argv[3] ?? '')) return;
  const contenders = [old, today].map((side) => ({ ...side, request: { ...request(side), headers: HEADERS } }));
  printTable(title, await measure(contenders, CONNECTIONS), CONNECTIONS);
}
