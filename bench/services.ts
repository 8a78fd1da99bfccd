import { openPlatform, type Platform, readProcessConfig } from '#runtime';
import type { DurableDatabase, DurableServices } from '#testing';

export const BENCH_KEY = 'sk-bench-0123456789abcdef';
const KEY_PEPPER = 'a-pepper-for-benchmarks';

/** What a worker in this process stands on. */
export const openBenchPlatform = ({ databaseUrl, folder }: DurableDatabase, settings: object = {}): Promise<Platform> =>
  openPlatform(readProcessConfig({ DATABASE_URL: databaseUrl, KEY_PEPPER, DATA_DIR: folder, ...settings }));

/** What the gateway's own processes need to run on these services. */
export const gatewayEnvironment = ({ databaseUrl, redisUrl }: DurableServices): Record<string, string> => ({
  DATABASE_URL: databaseUrl,
  REDIS_URL: redisUrl,
  KEY_PEPPER,
  GATEWAY_API_KEY: BENCH_KEY,
  OPEN_WAITS_PER_ACCOUNT: '100000',
  TEXTS_AT_ONCE_PER_ACCOUNT: '100000',
  SANDBOX_SELLS: 'true',
});
