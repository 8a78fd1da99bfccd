// Brings the database of DATABASE_URL to the schema of this version: `npm run migrate`, before new replicas start.
// Works on the build; any number of these may run at once.
import 'reflect-metadata';
import { ConfigError, DatabaseConfig, loadConfig, loadEnvironmentFile, migrate, waitForPostgres } from '#platform';

try {
  loadEnvironmentFile();
  const { DATABASE_URL, START_WAIT_SECONDS } = loadConfig(DatabaseConfig);
  if (DATABASE_URL === undefined) {
    throw new ConfigError(['DATABASE_URL must be set: the embedded database is migrated when the gateway starts.']);
  }
  await waitForPostgres(DATABASE_URL, START_WAIT_SECONDS);
  const applied = await migrate(DATABASE_URL);
  console.log(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
