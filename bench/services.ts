import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, startEmbeddedPostgres } from '#platform';
import { startRedisServer } from '#testing';

/** A Postgres with its default, durable settings, and a Redis; both of this run's own. */
export interface BenchServices {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  stop(): Promise<void>;
}

export const BENCH_KEY = 'sk-bench-0123456789abcdef';

/** Starts the services and brings the database to the current schema. @throws Error without redis-server on PATH. */
export async function startBenchServices(): Promise<BenchServices> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  const postgres = await startEmbeddedPostgres(folder);
  const redis = await startRedisServer();
  if (!redis) throw new Error('redis-server is missing: install it to run the benchmarks');
  await migrate(postgres.url);
  return {
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    stop: async () => {
      await Promise.all([postgres.stop(), redis.kill()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What the gateway's own processes need to run on these services. */
export const gatewayEnvironment = ({ databaseUrl, redisUrl }: BenchServices): Record<string, string> => ({
  DATABASE_URL: databaseUrl,
  REDIS_URL: redisUrl,
  KEY_PEPPER: 'a-pepper-for-benchmarks',
  GATEWAY_API_KEY: BENCH_KEY,
  OPEN_WAITS_PER_ACCOUNT: '100000',
  TEXTS_AT_ONCE_PER_ACCOUNT: '100000',
  SANDBOX_SELLS: 'true',
});
