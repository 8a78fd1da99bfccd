import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TaskView } from '#contracts';
import { createTestDatabase, eventually, freePort } from '#testing';
import { spawnApp, type SpawnedProcess, spawnScript } from '../harness/spawned-process.js';

const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '16:9', resolution: '2K' };
const KEY = 'sk-process-0123456789';

async function ask<Body>(url: string, key: string, body?: object): Promise<Body> {
  const answer = await fetch(url, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as Body;
}

async function poll(baseUrl: string, key: string, taskId: string): Promise<TaskView> {
  return eventually(async () => {
    const { data } = await ask<{ data: TaskView }>(`${baseUrl}/v1/tasks/${taskId}`, key);
    return data.usage.final ? data : null;
  });
}

async function submit(baseUrl: string, key: string, body: object): Promise<string> {
  const { data } = await ask<{ data: [{ task_id: string }] }>(`${baseUrl}/v1/images/generations`, key, body);
  return data[0].task_id;
}

const ROLES = ['gateway', 'api', 'image-worker', 'video-worker', 'maintenance-worker'] as const;
const SCRIPTS = [['scripts/migrate.mjs'], ['scripts/backup.mjs', 'NEW_FOLDER']] as const;

describe('A start without Postgres', () => {
  let folder: string;
  let environment: Record<string, string>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-start-'));
    const nowhere = `postgresql://gateway:secret-password@127.0.0.1:${await freePort()}/gateway`;
    environment = {
      DATABASE_URL: nowhere,
      START_WAIT_SECONDS: '2',
      DATA_DIR: folder,
      PORT: '0',
      KEY_PEPPER: 'x'.repeat(16),
    };
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each([
    ...ROLES.map((role) => [role, () => spawnApp(role, environment)] as const),
    ...SCRIPTS.map(
      ([script, ...options]) =>
        [
          script,
          () => Promise.resolve(spawnScript([script, ...options.map((name) => join(folder, name))], environment)),
        ] as const,
    ),
  ])('%s waits with one line a second, and then exits with one line', async (name, spawn) => {
    const started = await spawn();
    expect(await started.exited()).toBe(1);
    const lines = started.output().trim().split('\n');
    // Scripts are started by people, processes have a log.
    const waits = name.endsWith('.mjs')
      ? /^Waiting for Postgres \(DATABASE_URL\), \d+ s left: .*ECONNREFUSED/
      : /^{.*"secondsLeft":\d+,"reason":".*ECONNREFUSED.*"event":"postgres.awaited"/;
    const waiting = lines.filter((line) => waits.test(line));
    expect(waiting.length).toBeGreaterThanOrEqual(2);
    expect(waiting.length).toBeLessThanOrEqual(3);
    expect(lines.filter((line) => !waiting.includes(line))).toEqual([
      // In words for people, as a line of the log from the roles.
      expect.stringMatching(/Postgres \(DATABASE_URL\) did not answer within START_WAIT_SECONDS=2: .*ECONNREFUSED/),
    ]);
    expect(started.output()).not.toContain('secret-password');
  });
});

describe('A process in another unit than the ledger', () => {
  it.each(ROLES)('%s does not start, and says which unit it is', async (role) => {
    const { database, environment, remove } = await createTestDatabase();
    await database.query({ text: `insert into balance_unit (unit) values ('CNY')` });
    await database.query({ text: `insert into account (id, name) values ('acct', 'one')` });
    await database.query({
      text: `insert into ledger_entry (account_id, kind, debit, credit, amount_micros, reference)
        values ('acct', 'top_up', 'funding', 'available', 1, 'invoice')`,
    });
    const started = await spawnApp(role, { ...environment, PORT: '0', KEY_PEPPER: 'x'.repeat(16) });
    expect(await started.exited()).toBe(1);
    expect(started.output()).toContain('Set BALANCE_UNIT=CNY');
    await remove();
  });
});

describe('The gateway as one process, nothing set but its folder and port', () => {
  let folder: string;
  let environment: Record<string, string>;
  let gateway: SpawnedProcess;
  let baseUrl: string;
  const running: SpawnedProcess[] = [];

  const start = async (more: Record<string, string> = {}): Promise<SpawnedProcess> => {
    const started = await spawnApp('gateway', { ...environment, ...more });
    running.push(started);
    return started;
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-process-'));
    const port = await freePort();
    baseUrl = `http://127.0.0.1:${port}`;
    environment = { DATA_DIR: join(folder, 'data'), PORT: String(port), SANDBOX_IMAGE_MS: '50' };
  });
  afterAll(async () => {
    for (const process of running) if (process.child.exitCode === null) await process.end('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  });

  it('prints its address, a key that works, and keeps tasks and files across a stop', async () => {
    gateway = await start();
    const [key = ''] = await gateway.waitFor(/sk-gw-[\w-]+/);
    await gateway.waitFor(/Ctrl-C stops it/);
    const taskId = await submit(baseUrl, key, IMAGE);
    const first = await poll(baseUrl, key, taskId);
    expect(await gateway.end('SIGTERM')).toBe(0);

    gateway = await start({ GATEWAY_API_KEY: KEY });
    await gateway.waitFor(/Ctrl-C stops it/);
    expect(gateway.output()).not.toContain(KEY);
    expect(gateway.output()).toContain('GATEWAY_API_KEY (');
    const again = await poll(baseUrl, key, taskId);
    expect(again).toEqual(first);
    const file = await fetch(again.result?.images?.[0]?.url ?? '');
    expect((await file.arrayBuffer()).byteLength).toBe(again.result?.images?.[0]?.bytes);
  });

  it('names the process that uses the folder when it is started on it a second time, and exits', async () => {
    const second = await start({ PORT: '0' });
    expect(await second.exited()).toBe(1);
    expect(second.output()).toContain(`DATA_DIR is in use by process ${gateway.child.pid}`);
  });

  it('reports a taken port in one line, and leaves no database running', async () => {
    const other = await start({ DATA_DIR: join(folder, 'other') });
    expect(await other.exited()).toBe(1);
    expect(other.output()).toMatch(
      /^PORT is already in use: choose another with PORT=..., or stop what listens on \d+\.\n$/,
    );
    expect(existsSync(join(folder, 'other'))).toBe(false);
  });

  it('names every wrong variable, one line each', async () => {
    const wrong = await start({ PORT: 'web', SHUTDOWN_GRACE_SECONDS: '-1', REDIS_URL: 'http://x' });
    expect(await wrong.exited()).toBe(1);
    const lines = wrong.output().trim().split('\n');
    expect(lines.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'Configuration: PORT',
      'Configuration: SHUTDOWN_GRACE_SECONDS',
      'Configuration: REDIS_URL',
    ]);
  });

  it('reports a read-only folder in one line', async () => {
    await writeFile(join(folder, 'a-file'), '');
    const unwritable = await start({ DATA_DIR: join(folder, 'a-file', 'data'), PORT: '0' });
    expect(await unwritable.exited()).toBe(1);
    expect(unwritable.output().trim().split('\n')).toHaveLength(1);
    expect(unwritable.output()).toContain('DATA_DIR');
  });

  it('finishes running tasks after being killed and restarted, and charges them once', async () => {
    const taskId = await submit(baseUrl, KEY, { ...IMAGE, prompt: '[sandbox:delay=1500]' });
    await eventually(async () => {
      const { data } = await ask<{ data: TaskView }>(`${baseUrl}/v1/tasks/${taskId}`, KEY);
      // On a slow machine it may be over before it was seen running.
      return data.status !== 'submitted';
    });
    await gateway.end('SIGKILL');
    gateway = await start({ GATEWAY_API_KEY: KEY });
    await gateway.waitFor(/Ctrl-C stops it/);
    expect(await poll(baseUrl, KEY, taskId)).toMatchObject({ status: 'completed', usage: { amount: '0.035000' } });
  });

  it('stops cleanly at Ctrl-C while a task runs, which continues after the next start', async () => {
    const taskId = await submit(baseUrl, KEY, { ...IMAGE, prompt: '[sandbox:delay=2500]' });
    expect(await gateway.end('SIGINT')).toBe(0);
    gateway = await start({ GATEWAY_API_KEY: KEY });
    await gateway.waitFor(/Ctrl-C stops it/);
    expect(await poll(baseUrl, KEY, taskId)).toMatchObject({ status: 'completed' });
  });
});
