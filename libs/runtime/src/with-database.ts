import { Database, embeddedDatabaseUrl, loadSecrets, type Secrets, startEmbeddedPostgres } from '#platform';
import type { ProcessConfig } from './config/process-config.js';

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
