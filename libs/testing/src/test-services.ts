import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_SCHEMA, runMigrations } from 'bullmq';
import { IsIn, IsOptional, IsString } from 'class-validator';
import { Client } from 'pg';
import { loadConfig, migrate, QueueConfig, startEmbeddedPostgres } from '#platform';
import { watchOver } from './run-folder.js';
import { startRedisServer } from './redis-server.js';

const FOLDER_PREFIX = 'gateway-test-';
/** A younger folder may belong to a run that is just starting or ending. */
const LEFTOVER_AGE_MIN_MS = 10 * 60_000;
/** The migrated database that every test database is a copy of. */
export const TEMPLATE_DATABASE = 'gateway_template';

/** Nothing of a test run must survive a power cut, so the database may skip all waiting for the disk. */
const FAST_SETTINGS = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', max_connections: '300' };

/** How the set-up of a test run tells the spec files where its services are: environment variables of our own. */
export class TestServicesConfig {
  @IsString()
  TEST_DATABASE_URL!: string;

  /** Not set when there is no Redis on this machine. */
  @IsOptional()
  @IsString()
  TEST_REDIS_URL?: string;

  /** With `CI=true` a missing service fails the run; elsewhere its suites are skipped, and the run says so. */
  @IsOptional()
  @IsIn(['true', 'false', '1', '0'])
  CI?: string;
}

export interface TestServices {
  /** The variables of `TestServicesConfig` for the spec files. */
  readonly environment: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

/** Starts one Postgres and one Redis for a whole test run; `REDIS_URL` names a Redis to use instead. */
export async function startTestServices(): Promise<TestServices> {
  await removeLeftovers();
  const folder = mkdtempSync(join(tmpdir(), FOLDER_PREFIX));
  spreadOut(folder);
  watchOver(folder);
  const [postgres, redis] = await Promise.all([
    startEmbeddedPostgres(folder, { settings: FAST_SETTINGS }),
    findRedis(),
  ]);
  spreadOut(join(folder, 'postgres', 'base'));
  await createTemplate(postgres.url);
  const stop = async (): Promise<void> => {
    await Promise.all([postgres.stop(), redis?.kill()]);
    rmSync(folder, { recursive: true, force: true });
  };
  const environment = {
    TEST_DATABASE_URL: postgres.url,
    // What the spec files put into temporary folders goes with the run.
    TMPDIR: folder,
    ...(redis === undefined ? {} : { TEST_REDIS_URL: redis.url }),
  };
  return { environment, stop };
}

/**
 * Has ext4 put each folder in this one at a place of its own on the disk. Where it has no journal, as in virtual machines, it looks
 * at every file that was removed from a place in the last minutes before it makes one there: with the 900 files of each database
 * that is dropped, copying the next took ten times as long.
 */
function spreadOut(folder: string): void {
  try {
    execFileSync('chattr', ['+T', folder], { stdio: 'ignore' });
  } catch {
    // Another file system, which has no such places.
  }
}

async function findRedis() {
  const { REDIS_URL } = loadConfig(QueueConfig);
  return REDIS_URL === undefined ? startRedisServer() : { url: REDIS_URL, kill: () => Promise.resolve() };
}

async function createTemplate(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE DATABASE ${TEMPLATE_DATABASE}`);
  await client.end();
  const template = databaseUrl(url, TEMPLATE_DATABASE);
  await migrate(template);
  await migrateQueue(template);
}

/** The schema of BullMQ, which each first gateway of a database would make for itself in a fifth of a second. */
async function migrateQueue(url: string): Promise<void> {
  const client = new Client({ connectionString: url, options: `-c search_path=${DEFAULT_SCHEMA}` });
  await client.connect();
  await runMigrations(client, DEFAULT_SCHEMA);
  await client.end();
}

/** The address of another database on the same server. */
export function databaseUrl(url: string, database: string): string {
  const address = new URL(url);
  address.pathname = `/${database}`;
  return address.href;
}

/** Stops and removes what test runs left behind that were killed; those still running keep theirs. */
async function removeLeftovers(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(FOLDER_PREFIX))) {
    const folder = join(tmpdir(), name);
    try {
      if (Date.now() - statSync(folder).mtimeMs < LEFTOVER_AGE_MIN_MS) continue;
      const leftover = await startEmbeddedPostgres(folder);
      await leftover.stop();
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // In use by a living run, or not ours to remove.
    }
  }
}
