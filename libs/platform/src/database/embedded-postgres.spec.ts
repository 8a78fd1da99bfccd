import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { eventually } from '#testing';
import { AlreadyRunningError, explainPostgresFailure } from './embedded-postgres-error.js';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './embedded-postgres.js';
import { lockDataFolder } from './data-folder-lock.js';
import { findPostmaster, postmasterFile } from './embedded-postgres-address.js';

const SETTINGS = { settings: { fsync: 'off' } };

async function ask(url: string, text: string): Promise<unknown> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query({ text, rowMode: 'array' });
    return (rows as unknown[][])[0]?.[0];
  } finally {
    await client.end();
  }
}

describe('startEmbeddedPostgres', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-embedded-'));
  const cluster = join(dataDir, 'postgres');
  let postgres: EmbeddedPostgres | undefined;

  const start = async (): Promise<EmbeddedPostgres> => (postgres = await startEmbeddedPostgres(dataDir, SETTINGS));
  const running = async (): Promise<EmbeddedPostgres> => postgres ?? (await start());
  const killServer = async (): Promise<void> => {
    const processId = findPostmaster(cluster)?.processId ?? 0;
    process.kill(processId, 'SIGKILL');
    await eventually(() => findPostmaster(cluster) === undefined);
  };

  afterAll(async () => {
    await postgres?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('creates a database behind a password that only the owner may read', async () => {
    const { url } = await start();
    expect(await ask(url, 'SELECT current_database()')).toBe('gateway');
    expect(statSync(join(dataDir, 'postgres.json')).mode & 0o777).toBe(0o600);
    await expect(ask(url.replace(/:[^:@]+@/, ':wrong@'), 'SELECT 1')).rejects.toThrow('password');
    // A random password needs no stretching, which would cost each connection twice its time.
    expect(await ask(url, 'SELECT rolpassword FROM pg_authid WHERE rolpassword IS NOT NULL')).toMatch(
      /^SCRAM-SHA-256\$1:/,
    );
  });

  it('refuses a second start on the same folder and names the process', async () => {
    await expect(startEmbeddedPostgres(dataDir)).rejects.toThrow(
      new RegExp(`^DATA_DIR is in use by process ${process.pid}`),
    );
  });

  it('keeps data and address over stop and start', async () => {
    const { url, stop } = await running();
    await ask(url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await stop();
    expect(findPostmaster(cluster)).toBeUndefined();
    const again = await start();
    expect(again).toMatchObject({ url, adopted: false });
    expect(await ask(again.url, 'SELECT answer FROM kept')).toBe(42);
  });

  it('reuses a server that outlived its gateway', async () => {
    const left = postgres;
    rmSync(join(dataDir, 'gateway.lock'));
    const adopter = await start();
    expect(adopter).toMatchObject({ adopted: true, url: left?.url });
    expect(await ask(adopter.url, 'SELECT answer FROM kept')).toBe(42);
  });

  it('recovers after everything was killed, although the stale file names a living process', async () => {
    await killServer();
    rmSync(join(dataDir, 'gateway.lock'));
    const lines = readFileSync(postmasterFile(cluster), 'utf8').split('\n');
    writeFileSync(postmasterFile(cluster), [process.pid, ...lines.slice(1)].join('\n'));
    const { url, adopted } = await start();
    expect(adopted).toBe(false);
    expect(await ask(url, 'SELECT answer FROM kept')).toBe(42);
  });

  it('moves to another port when its own was taken meanwhile', async () => {
    const { url, stop } = await running();
    await stop();
    const taken = createServer();
    taken.listen(Number(new URL(url).port), '127.0.0.1');
    await once(taken, 'listening');
    const moved = await start();
    taken.close();
    expect(new URL(moved.url).port).not.toBe(new URL(url).port);
    expect(await ask(moved.url, 'SELECT answer FROM kept')).toBe(42);
  });

  it('says in one line when the folder cannot be written', async () => {
    const file = join(dataDir, 'a-file');
    writeFileSync(file, '');
    await expect(startEmbeddedPostgres(join(file, 'below'))).rejects.toThrow(
      /^DATA_DIR .* cannot be used: .* is a file, not a folder/,
    );
  });
});

describe('lockDataFolder', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-lock-'));
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  it('names the living process of another start and ignores it once it was killed', async () => {
    const holder = spawn('sleep', ['60']);
    const lock = lockDataFolder(dataDir);
    const content = readFileSync(join(dataDir, 'gateway.lock'), 'utf8');
    lock.release();
    const startedAt = startTimeOf(holder.pid ?? 0);
    writeFileSync(
      join(dataDir, 'gateway.lock'),
      JSON.stringify({ ...JSON.parse(content), processId: holder.pid, startedAt }),
    );
    expect(() => lockDataFolder(dataDir)).toThrow(new AlreadyRunningError(dataDir, holder.pid ?? 0));
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    lockDataFolder(dataDir).release();
    expect(existsSync(join(dataDir, 'gateway.lock'))).toBe(false);
  });

  it('ignores a lock whose process id now belongs to another process', () => {
    writeFileSync(join(dataDir, 'gateway.lock'), JSON.stringify({ processId: process.pid, startedAt: 'earlier' }));
    lockDataFolder(dataDir).release();
    expect(existsSync(join(dataDir, 'gateway.lock'))).toBe(false);
  });

  function startTimeOf(processId: number): string {
    const fields = readFileSync(`/proc/${processId}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${fields[19]}`;
  }
});

describe('explainPostgresFailure', () => {
  it.each([
    ['initdb: error: could not write file: No space left on device', 'the disk is full'],
    ['FATAL:  wrote only 4096 of 8192 bytes\nHINT:  Check free disk space.\nPANIC:  stop', 'the disk is full'],
    ["Error: EACCES: permission denied, mkdir '/data'", 'permission denied'],
    ['FATAL:  could not create any TCP/IP sockets\nLOG: Address already in use', 'its port is in use'],
    ['LOG: x\nFATAL:  data directory has wrong ownership\nLOG: y', 'FATAL:  data directory has wrong ownership'],
  ])('turns %j into one line', (output, reason) => {
    const { message } = explainPostgresFailure('Starting Postgres', '/data', output);
    expect(message).toContain(`DATA_DIR /data failed: ${reason}`);
    expect(message).not.toContain('\n');
  });
});
