import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, startEmbeddedPostgres } from '#platform';
import { startRedisServer } from './redis-server.js';

/** A Postgres with its default, durable settings and the current schema, in a folder of this run's own. */
export interface DurableDatabase {
  readonly databaseUrl: string;
  readonly folder: string;
  stop(): Promise<void>;
}

/** Such a Postgres, and a Redis of this run's own. */
export interface DurableServices extends DurableDatabase {
  readonly redisUrl: string;
}

export async function startDurableDatabase(): Promise<DurableDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-services-'));
  const postgres = await startEmbeddedPostgres(folder);
  await migrate(postgres.url);
  const stop = async (): Promise<void> => {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { databaseUrl: postgres.url, folder, stop };
}

/** @throws Error without redis-server on PATH. */
export async function startDurableServices(): Promise<DurableServices> {
  const redis = await startRedisServer();
  if (!redis) throw new Error('redis-server is missing: install it');
  const database = await startDurableDatabase();
  const stop = async (): Promise<void> => void (await Promise.all([database.stop(), redis.kill()]));
  return { ...database, redisUrl: redis.url, stop };
}
