// Makes database.sql, answers.json and image.png: the data that the first release left behind, and what it answered about them.
// README.md says how to run it. It is kept so that everyone can see what the data are; the files are never made again.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';

const [release, target] = process.argv.slice(2).map((folder) => resolve(folder));
const { migrate, startEmbeddedPostgres } = await import(
  pathToFileURL(join(release, 'dist/libs/platform/src/index.js')).href
);

const KEY = 'sk-first-release-0123456789abcdef';
const ADMIN_TOKEN = 'the-admin-token-of-the-first-release';
const folder = await mkdtemp(join(tmpdir(), 'first-release-'));
const postgres = await startEmbeddedPostgres(join(folder, 'data'));
await migrate(postgres.url);
const port = await freePort();
const url = `http://127.0.0.1:${port}`;

const gateway = spawn(process.execPath, ['dist/apps/gateway/src/main.js'], {
  cwd: release,
  stdio: ['ignore', 'ignore', 'inherit'],
  env: {
    PATH: process.env.PATH,
    DATABASE_URL: postgres.url,
    DATA_DIR: join(folder, 'files'),
    PORT: String(port),
    GATEWAY_API_KEY: KEY,
    ADMIN_TOKEN,
    KEY_PEPPER: 'the-pepper-of-the-first-release',
    MEDIA_LINK_SECRETS: 'the-link-secret-of-the-first-release',
    PUBLIC_BASE_URL: 'http://gateway.test',
    LOG_LEVEL: 'error',
  },
});
const ready = () =>
  fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
while (!(await ready())) {
  if (gateway.exitCode !== null) throw new Error('The gateway did not start.');
  await sleep(100);
}

async function call(method, path, { key = KEY, body, headers = {} } = {}) {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}
const admin = async (method, path, body) => (await call(method, `/admin/v1${path}`, { key: ADMIN_TOKEN, body })).data;
const task = async (taskId, key = KEY) => (await call('GET', `/v1/tasks/${taskId}`, { key })).data;

async function until(taskId, wanted) {
  while (!wanted(await task(taskId))) await sleep(50);
  return taskId;
}
const submit = async (path, body, key) => (await call('POST', path, { key, body })).data[0].task_id;
const isFinal = ({ usage }) => usage.final;

const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse at dusk', size: '1:1' };
const VIDEO = {
  model: 'beta-2.5-preview',
  prompt: 'waves against a lighthouse',
  resolution: '480p',
  size: '16:9',
  duration: 5,
};
const IDEMPOTENT = {
  path: '/v1/images/generations',
  body: { ...IMAGE, prompt: 'the same lighthouse, ordered twice' },
  headers: { 'idempotency-key': 'order-0001' },
};

const endpoint = await call('POST', '/v1/webhooks/endpoints', { body: { url: 'https://receiver.example.com/hook' } });
const image = await until(await submit('/v1/images/generations', IMAGE), isFinal);
const video = await until(await submit('/v1/videos/generations', VIDEO), isFinal);
const failed = await until(
  await submit('/v1/images/generations', { ...IMAGE, prompt: '[sandbox:fail=content_policy] no' }),
  isFinal,
);
const first = await call('POST', IDEMPOTENT.path, IDEMPOTENT);
await until(first.data[0].task_id, isFinal);
const replayed = await call('POST', IDEMPOTENT.path, IDEMPOTENT);
const stored = await call('POST', '/v1/responses', { body: { model: 'vendor-5', input: 'My name is Ada.' } });
await call('POST', '/v1/messages', {
  headers: { 'vendor-version': '2023-06-01' },
  body: { model: 'vendor-haiku-4-5-20251001', max_tokens: 64, messages: [{ role: 'user', content: 'Say hello.' }] },
});

const studio = await admin('POST', '/accounts', { name: 'Studio', max_running_tasks: 1 });
await admin('POST', `/accounts/${studio.id}/top-ups`, { amount: '25.000000', reference: 'invoice-1' });
const studioKey = await admin('POST', `/accounts/${studio.id}/keys`, { name: 'render farm', quota: '20.000000' });
const running = await submit(
  '/v1/videos/generations',
  { ...VIDEO, prompt: '[sandbox:delay=45000] tide' },
  studioKey.key,
);
await (async () => {
  while ((await task(running, studioKey.key)).status !== 'in_progress') await sleep(50);
})();
const waiting = await submit('/v1/videos/generations', { ...VIDEO, prompt: 'a second tide' }, studioKey.key);
// What is paid for text is written down a moment after the answer.
while ((await call('GET', '/v1/usage/records')).data.filter(({ kind }) => kind === 'text').length < 2) await sleep(50);

const accounts = await admin('GET', '/accounts');
const answers = {
  keys: { first: KEY, studio: studioKey.key },
  tasks: { image, video, failed, running, waiting },
  idempotent: { ...IDEMPOTENT, answer: replayed },
  stored,
  webhookSecret: endpoint.data.secret,
  first: await seenBy(KEY),
  studio: await seenBy(studioKey.key),
  accounts,
};
gateway.kill('SIGTERM');
await once(gateway, 'exit');
answers.savedAt = new Date().toISOString();
await copyFile(join(folder, 'files/media/media', image, '0.png'), join(target, 'image.png'));
await writeFile(join(target, 'database.sql'), await dump());
await writeFile(join(target, 'answers.json'), `${JSON.stringify(answers, null, 2)}\n`);
await postgres.stop();
await rm(folder, { recursive: true, force: true });

/** The responses that the holder of a key gets. */
async function seenBy(key) {
  const read = (path) => call('GET', path, { key });
  return {
    tasks: (await read('/v1/tasks?limit=100')).data,
    balance: await read('/v1/user/balance'),
    usage: (await read('/v1/usage?group_by=model')).data,
    records: (await read('/v1/usage/records?limit=100')).data,
    endpoints: (await read('/v1/webhooks/endpoints')).data,
  };
}

/** Every row of every table that outlives a crash, in the form that psql reads; the schema is that of the migrations. */
async function dump() {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const { rows: tables } = await client.query(`
    select c.relname as name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relpersistence = 'p' and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    group by c.relname order by c.relname`);
  let text = '';
  for (const { name, columns } of tables) {
    const rows = await client.query(copyTo(`copy (select ${columns} from ${name}) to stdout`)).toArray();
    if (rows.length > 0) text += `COPY ${name} (${columns}) FROM stdin;\n${Buffer.concat(rows).toString()}\\.\n\n`;
  }
  await client.end();
  return text;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: free } = server.address();
  server.close();
  await once(server, 'close');
  return free;
}
