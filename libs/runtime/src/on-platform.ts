import { setTimeout as sleep } from 'node:timers/promises';
import { Database, embeddedDatabaseUrl, loadSecrets, type Secrets, startEmbeddedPostgres } from '#platform';
import type { ProcessConfig } from './config/process-config.js';
import { openPlatform, type Platform } from './platform.js';
import { type RunningProcess, printForPeople } from './run-process.js';

/**
 * Opens the platform and starts a process on it, which is ready only when its start is over. Stopping begins with not
 * being ready, so that load balancers look elsewhere before requests are refused. The platform closes after the process,
 * or at once when the start fails.
 */
export async function onPlatform(
  config: ProcessConfig,
  start: (platform: Platform) => Promise<RunningProcess>,
): Promise<RunningProcess> {
  const platform = await openPlatform(config, (secret) => printForPeople(config, secret));
  platform.health.starting();
  try {
    const running = await start(platform);
    platform.health.started();
    return {
      ...running,
      stop: async (graceMs, noticeMs = 0) => {
        platform.health.drain();
        running.drain?.();
        await sleep(Math.max(platform.config.ops.DRAIN_SECONDS * 1000, noticeMs));
        const deadlineMs = performance.now() + graceMs;
        await running.stop(graceMs);
        await platform.close(Math.max(0, deadlineMs - performance.now()));
      },
    };
  } catch (error) {
    await platform.close(0);
    throw error;
  }
}

/**
 * Runs a command on the database of the configuration: that of DATABASE_URL, else the embedded one of DATA_DIR, which is
 * joined while a gateway runs it and started for the command otherwise.
 *
 * @throws EmbeddedPostgresError in one line when the embedded one cannot be had.
 */
export async function withDatabase<Result>(
  config: ProcessConfig,
  work: (database: Database, secrets: Secrets) => Promise<Result>,
): Promise<Result> {
  const { DATA_DIR } = config.server;
  const running = config.database.DATABASE_URL ?? embeddedDatabaseUrl(DATA_DIR);
  const started = running === undefined ? await startEmbeddedPostgres(DATA_DIR) : undefined;
  const database = new Database(running ?? started?.url ?? '', config.database);
  try {
    return await work(database, await loadSecrets(config.server));
  } finally {
    await database.close();
    await started?.stop();
  }
}
