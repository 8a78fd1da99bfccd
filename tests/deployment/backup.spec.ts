import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { Client } from 'pg';
import type { TaskView } from '#contracts';
import { createTestDatabase, eventually, pngSample, sharedBundle } from '#testing';
import { consoleClient } from '../harness/console-client.js';
import { consoleLinks } from '../harness/console-link.js';
import { type SpawnedProcess, spawnApp } from '../harness/spawned-process.js';
import { createGatewayPlace, startTestGateway, TEST_KEY, type TestGateway } from '../harness/test-gateway.js';

const run = promisify(execFile);
const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse' };
const PICTURE = `data:image/png;base64,${pngSample({ width: 300, height: 300 }).toString('base64')}`;

/** What a customer can see of an installation. */
async function seenBy(baseUrl: string, key: string) {
  const get = async (path: string): Promise<Response> =>
    fetch(baseUrl + path, { headers: { authorization: `Bearer ${key}` } });
  const { data } = (await (await get('/v1/tasks?limit=100')).json()) as { data: TaskView[] };
  const files = data.flatMap((task) => task.result?.images ?? []);
  const checksums = await Promise.all(
    files.map(async (file) => {
      const bytes = await (await fetch(file.url ?? '')).arrayBuffer();
      return [file.sha256, bytes.byteLength];
    }),
  );
  const tasks = data.map(({ result: _links, ...task }) => task);
  return { tasks, checksums, balance: await (await get('/v1/user/balance')).json() };
}

/** Leaves rows and files of every kind: tasks, an upload in a vector store, a stored response, a webhook, a person with a session. */
async function useAll(gateway: TestGateway): Promise<void> {
  for (let index = 0; index < 3; index += 1)
    await gateway.waitForTask(await gateway.submit('/v1/images/generations', IMAGE));
  const form = new FormData();
  form.append('purpose', 'assistants');
  form.append('file', new Blob(['The lighthouse of Vesterholm was lit for the first time in 1871.']), 'a.txt');
  const headers = { authorization: `Bearer ${TEST_KEY}` };
  const upload = await fetch(`${gateway.baseUrl}/v1/files`, { method: 'POST', headers, body: form });
  const { id } = (await upload.json()) as { id: string };
  const { body: store } = await gateway.send<{ id: string }>('POST', '/v1/vector_stores', { file_ids: [id] });
  await eventually(
    async () => (await gateway.send('GET', `/v1/vector_stores/${store.id}/files/${id}`)).body['status'] === 'completed',
  );
  await gateway.send('POST', `/v1/vector_stores/${store.id}/file_batches`, { file_ids: [id] });
  const said = { model: 'vendor-5', input: 'Say something.', store: true };
  await gateway.send('POST', '/v1/responses', said, { ...headers, 'x-session-id': 'of-an-agent', 'x-tags': 'team:a' });
  const limit = `insert into tag_limit (account_id, tag, daily_limit_micros) values ($1, 'team:a', 1000000000)`;
  await gateway.database.query({ text: limit, values: [gateway.accountId] });
  await gateway.database.query({
    text: `with list as (insert into price_list (id, name, created_by) values ('partners', 'Partners', 'spec') returning id),
      rule as (insert into price_list_rule (id, list_id, model, factor_millionths, effective_from, created_by)
        select 'rule_1', id, '*', 900000, now(), 'spec' from list),
      own as (insert into account_price_list (account_id, effective_from, list_id, created_by)
        select $1, now() + interval '1 day', id, 'spec' from list)
      insert into margin_daily (day, model, account_id, kind, tasks, completed_tasks, tasks_without_cost, earned_micros)
        values ('2026-01-01', 'vendor-5', $1, 'text', 1, 1, 1, 7)`,
    values: [gateway.accountId],
  });
  await gateway.database.query({
    text: `with proposal as (insert into price_proposal (id, source, origin, sha256, factor_millionths, counts, created_by, expires_at)
          values ('proposal_1', 'litellm', 'file', '', 1000000, '{}', 'spec', now() + interval '7 days') returning id),
        item as (insert into price_proposal_item (proposal_id, position, id, item) select id, 0, 'item_1', '{}' from proposal),
        name as (insert into price_name (source, list_id, created_by) values ('litellm', 'theirs', 'spec')),
        log as (insert into prompt_log (id, account_id, is_on, retention_days, sealed_key)
          values ('promptlog_1', $1, false, 7, 'sealed') returning id)
      insert into prompt_entry (id, log_id, request_id, api_key_id, model, sealed, kept_bytes, created_at)
        select 'prompt_1', id, 'req_1', 'key_1', 'vendor-5', 'sealed', 6, now() from log`,
    values: [gateway.accountId],
  });
  await gateway.send('POST', '/v1/webhooks/endpoints', { url: 'https://hooks.example.com/' });
  await gateway.send('GET', '/v1/webhooks/signing-secret');
  const order = { model: 'kappa-a-4-0', prompt: '[sandbox:delay=60000] a lighthouse', image_urls: [PICTURE] };
  const once = { ...headers, 'idempotency-key': 'once' };
  const { body } = await gateway.send<{ data: readonly [{ task_id: string }] }>(
    'POST',
    '/v1/images/generations',
    order,
    once,
  );
  expect(body).toMatchObject({ data: [{ task_id: expect.any(String) }] });
  await gateway.send('POST', `/v1/tasks/${body.data[0].task_id}/cancel`, {});
  await people(gateway);
  await leaveKeptResult(gateway);
}

/** An owner with a session, somebody whom it invited, and an invitation that nobody took. */
async function people(gateway: TestGateway): Promise<void> {
  const links = await consoleLinks(gateway);
  const owner = consoleClient(gateway);
  await owner.call('POST /sign-in/link', { code: new URL(await links.next()).hash.replace('#code=', '') });
  await links.close();
  const invite = async (email: string): Promise<string> =>
    (await owner.call('POST /people/invitations', { role: 'developer', email })).body.link;
  await invite('later@example.com');
  const code = new URL(await invite('ann@example.com')).hash.replace('#invitation=', '');
  const password = 'correct horse battery';
  await consoleClient(gateway).call('POST /sign-in/invitation', {
    code,
    name: 'Ann',
    email: 'ann@example.com',
    password,
  });
}

/** As a worker leaves it that dies between the answer of a vendor, which holds the file itself, and the end of the task. */
async function leaveKeptResult({ database, platform }: TestGateway): Promise<void> {
  const key = 'media/task_kept/0.png';
  const options = { contentType: 'image/png', maxBytes: 100 };
  const kept = { ...(await platform.store.put(key, Readable.from([Buffer.from('an image')]), options)), ...options };
  const outputs = [{ role: 'output', contentType: 'image/png', url: `kept:${JSON.stringify(kept)}` }];
  const changes = { id: 'task_kept', state: 'storing', lease_until: '2099-01-01', finished_at: null, outputs };
  await database.query({
    text: 'insert into task select (jsonb_populate_record(t, $1::jsonb)).* from task t limit 1',
    values: [JSON.stringify(changes)],
  });
}

const TABLES = `
select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
  and not relispartition and relpersistence = 'p' and relname not in ('_prisma_migrations', 'task_poll')`;

/** All rows of every table, but for what is rebuilt. */
async function allRows(connectionString: string): Promise<Record<string, string[]>> {
  const client = new Client({ connectionString });
  await client.connect();
  const found: Record<string, string[]> = {};
  for (const { name } of (await client.query<{ name: string }>(TABLES)).rows) {
    const { rows } = await client.query<{ row: string }>(`select t::text as row from "${name}" t order by 1`);
    found[name] = rows.map(({ row }) => row);
  }
  await client.end();
  return found;
}

/** Where an account that used everything may leave no row: what stands there for a moment, what older versions wrote, or comes of days, operators and vendors. */
const MAY_BE_EMPTY: readonly string[] = [
  'console_identity',
  'ledger_checkpoint',
  'ledger_open_hold',
  'ledger_sum',
  'maintenance_position',
  'one_time_link',
  'passage_vector',
  'passkey',
  'paused_work',
  'request_hold',
  'spend_mark',
  'taken_order',
  'task_call',
  'task_event',
  'task_long_text',
  'task_redrive',
  'task_refund',
  'text_bytes_change',
  'text_call_failure',
  'text_item',
  'upstream',
  'upstream_allowance',
  'upstream_orphan',
  'usage_closed_day',
  'usage_daily_by_account',
  'usage_daily_by_key',
  'usage_daily_by_model',
  'used_challenge',
  'worker',
];

/** Each file of a store by its key, with the hash of its bytes. */
async function storedFiles(dataDirectory: string): Promise<Record<string, string>> {
  const root = join(dataDirectory, 'media');
  const found = await readdir(root, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const hashed = async (path: string): Promise<[string, string]> => [
    path.slice(root.length + 1),
    createHash('sha256')
      .update(await readFile(path))
      .digest('hex'),
  ];
  return Object.fromEntries(await Promise.all(files.map(hashed)));
}

describe('Backup and restore', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-backup-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const script = async (name: string, target: string, environment: Record<string, string>, ...options: string[]) =>
    run(process.execPath, [await sharedBundle(`scripts/${name}.mjs`), target, ...options], {
      env: { PATH: process.env['PATH'] ?? '', ...environment },
    });

  it('copies an external installation with every row of every table and every byte of every file', async () => {
    const place = await createGatewayPlace();
    const old = await startTestGateway({ place });
    const fresh = await createTestDatabase();
    const backup = join(folder, 'external');
    const restoredDirectory = join(folder, 'restored');
    const environment = (url: string, dataDirectory: string) => ({
      DATABASE_URL: url,
      SANDBOX_BILLING_ENABLED: 'true',
      KEY_PEPPER: 'a-pepper-for-tests-only',
      DATA_DIR: dataDirectory,
    });
    try {
      await useAll(old);
      const before = await seenBy(old.baseUrl, TEST_KEY);
      // Nothing changes any more while both are compared.
      await old.stop();
      await script('backup', backup, environment(place.databaseUrl, place.dataDirectory));
      const target = environment(fresh.url, restoredDirectory);
      await script('restore', backup, target);

      const rows = await allRows(fresh.url);
      expect(rows).toEqual(await allRows(place.databaseUrl));
      const empty = Object.keys(rows).filter((table) => rows[table]?.length === 0);
      expect(empty.filter((table) => !MAY_BE_EMPTY.includes(table))).toEqual([]);
      const files = await storedFiles(restoredDirectory);
      expect(files).toEqual(await storedFiles(place.dataDirectory));
      expect(
        Object.keys(files)
          .map((key) => key.split('/')[0] ?? '')
          .toSorted(),
      ).toEqual(['media', 'media', 'media', 'media', 'uploads']);
      const { rows: numbers } = await fresh.database.query<{ next: bigint; highest: bigint }>({
        text: `select nextval(pg_get_serial_sequence('ledger_entry', 'id')) as next, (select max(id) from ledger_entry) as highest`,
      });
      expect(numbers[0]?.next).toBeGreaterThan(numbers[0]?.highest ?? 0n);

      const restored = await spawnApp('api', { ...target, PORT: '0' });
      const [, url = ''] = await restored.waitFor(/API on (http:[^\s"]+)/);
      const after = await seenBy(url, TEST_KEY);
      await restored.end('SIGTERM');
      expect(after).toEqual(before);
    } finally {
      await old.stop().catch(() => undefined);
      await fresh.remove();
      await place.remove();
    }
  });

  it('copies a running embedded installation to an empty machine, keys included', async () => {
    const [home, elsewhere, backup] = ['home', 'elsewhere', 'embedded'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    const environment = (dataDirectory: string) => ({ DATA_DIR: dataDirectory, PORT: '0', SANDBOX_IMAGE_MS: '10' });
    const start = async (dataDirectory: string): Promise<[SpawnedProcess, string]> => {
      const process = await spawnApp('gateway', environment(dataDirectory));
      const [, url = ''] = await process.waitFor(/Base URL +(http:\S+)/);
      return [process, url];
    };
    const [first, url] = await start(home);
    const [, key = ''] = await first.waitFor(/API key +(sk-\S+)/);
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    await fetch(`${url}/v1/images/generations`, { method: 'POST', headers, body: JSON.stringify(IMAGE) });
    const before = await eventually(async () => {
      const seen = await seenBy(url, key);
      return seen.checksums.length > 0 ? seen : null;
    });
    await script('backup', backup, environment(home));
    await first.end('SIGTERM');

    await script('restore', backup, environment(elsewhere));
    const [second, restoredUrl] = await start(elsewhere);
    const after = await seenBy(restoredUrl, key);
    await second.end('SIGTERM');
    expect(after).toEqual(before);
  });

  it('refuses a store with files before anything is written, unless forced', async () => {
    const old = await startTestGateway();
    const fresh = await createTestDatabase();
    const backup = join(folder, 'filled-store');
    const place = (url: string) => ({
      DATABASE_URL: url,
      KEY_PEPPER: 'a-pepper-for-tests-only',
      DATA_DIR: old.platform.config.server.DATA_DIR,
    });
    try {
      await old.waitForTask(await old.submit('/v1/images/generations', IMAGE));
      await script('backup', backup, place(old.platform.config.database.DATABASE_URL ?? ''));
      await expect(script('restore', backup, place(fresh.url))).rejects.toThrow(/The store is not empty/);
      const { rows } = await fresh.database.query<{ count: bigint }>({ text: 'select count(*) from account' });
      expect(rows[0]?.count).toBe(0n);
      const { stdout } = await script('restore', backup, place(fresh.url), '--force');
      expect(stdout).toMatch(/^Restored \d+ rows of \d+ tables and 1 files/);
    } finally {
      await old.stop();
      await fresh.remove();
    }
  });

  it('tells which files are missing that the restored rows name', async () => {
    const old = await startTestGateway();
    const fresh = await createTestDatabase();
    const backup = join(folder, 'without-a-file');
    const place = (url: string, dataDirectory: string) => ({
      DATABASE_URL: url,
      KEY_PEPPER: 'a-pepper-for-tests-only',
      DATA_DIR: dataDirectory,
    });
    try {
      const taskId = await old.submit('/v1/images/generations', IMAGE);
      await old.waitForTask(taskId);
      const { config } = old.platform;
      await script('backup', backup, place(config.database.DATABASE_URL ?? '', config.server.DATA_DIR));
      const path = join(backup, 'manifest.json');
      const manifest = JSON.parse(await readFile(path, 'utf8')) as object;
      await writeFile(path, JSON.stringify({ ...manifest, files: [] }));
      await expect(script('restore', backup, place(fresh.url, join(folder, 'lacking')))).rejects.toThrow(
        new RegExp(`of 1 files that its tables name it has none, or other bytes: media/${taskId}/0.png`),
      );
    } finally {
      await old.stop();
      await fresh.remove();
    }
  });

  it('refuses a non-empty database, an incomplete backup and a damaged one, and leaves the database unchanged', async () => {
    const gateway = await startTestGateway({ workers: false });
    const fresh = await createTestDatabase();
    const backup = join(folder, 'refused');
    const environment = (url: string) => ({
      DATABASE_URL: url,
      SANDBOX_BILLING_ENABLED: 'true',
      KEY_PEPPER: 'a-pepper-for-tests-only',
      DATA_DIR: folder,
    });
    const own = environment(gateway.platform.config.database.DATABASE_URL ?? '');
    try {
      await script('backup', backup, own);
      await expect(script('restore', backup, own)).rejects.toThrow(/The table \w+ is not empty/);
      await expect(script('restore', folder, own)).rejects.toThrow(/holds no whole backup/);
      await expect(script('backup', backup, own)).rejects.toThrow(/does not exist yet/);
      await writeFile(join(backup, 'account.copy.gz'), 'damaged');
      await expect(script('restore', backup, environment(fresh.url))).rejects.toThrow(/incorrect header check/);
      const { rows } = await fresh.database.query<{ count: bigint }>({ text: 'select count(*) from account' });
      expect(rows[0]?.count).toBe(0n);
    } finally {
      await gateway.stop();
      await fresh.remove();
    }
  });
});
