import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TaskView } from '#contracts';
import { createTestDatabase, eventually } from '#testing';
import { type SpawnedProcess, spawnApp } from '../testing/spawned-process.js';
import { startTestGateway, TEST_KEY } from '../testing/test-gateway.js';

const run = promisify(execFile);
const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse' };

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

describe('Backup and restore', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-backup-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const script = (name: string, target: string, environment: Record<string, string>, ...options: string[]) =>
    run(process.execPath, [`scripts/${name}.mjs`, target, ...options], {
      env: { PATH: process.env['PATH'] ?? '', ...environment },
    });

  it('copies a running external installation with every task, file and balance', async () => {
    const old = await startTestGateway();
    const fresh = await createTestDatabase();
    const backup = join(folder, 'external');
    const place = (url: string, dataDirectory: string) => ({
      DATABASE_URL: url,
      SANDBOX_SELLS: 'true',
      KEY_PEPPER: 'a-pepper-for-tests-only',
      DATA_DIR: dataDirectory,
    });
    try {
      for (let index = 0; index < 3; index += 1)
        await old.waitForTask(await old.submit('/v1/images/generations', IMAGE));
      const { config } = old.platform;
      await script('backup', backup, place(config.database.DATABASE_URL ?? '', config.server.DATA_DIR));
      const before = await seenBy(old.baseUrl, TEST_KEY);

      const target = place(fresh.url, join(folder, 'restored'));
      await script('restore', backup, target);
      const restored = spawnApp('api', { ...target, PORT: '0' });
      const [, url = ''] = await restored.waitFor(/API on (http:[^\s"]+)/);
      const after = await seenBy(url, TEST_KEY);
      await restored.end('SIGTERM');

      expect(after).toEqual(before);
      expect(after.tasks).toHaveLength(3);
      expect(after.checksums).toHaveLength(3);
      const { rows } = await fresh.database.query<{ next: bigint; highest: bigint }>({
        text: `select nextval(pg_get_serial_sequence('ledger_entry', 'id')) as next, (select max(id) from ledger_entry) as highest`,
      });
      expect(rows[0]?.next).toBeGreaterThan(rows[0]?.highest ?? 0n);
    } finally {
      await old.stop();
      await fresh.remove();
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
      const process = spawnApp('gateway', environment(dataDirectory));
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

  it('refuses a non-empty database, an incomplete backup and a damaged one, and leaves the database unchanged', async () => {
    const gateway = await startTestGateway({ workers: false });
    const fresh = await createTestDatabase();
    const backup = join(folder, 'refused');
    const environment = (url: string) => ({
      DATABASE_URL: url,
      SANDBOX_SELLS: 'true',
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
