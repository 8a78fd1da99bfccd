// Puts a new admin token in the place of the one that a gateway without ADMIN_TOKEN made for itself, and prints it:
// `npm run new-admin-token`. A gateway that runs on the same DATA_DIR takes it at once.
import 'reflect-metadata';
import { ConfigError, loadEnvironmentFile } from '#platform';
import { readProcessConfig, renewAdminToken } from '#runtime';

try {
  loadEnvironmentFile();
  const { server, database } = readProcessConfig();
  if (server.ADMIN_TOKEN || database.DATABASE_URL) {
    throw new ConfigError(['The admin token is the one of ADMIN_TOKEN: set another there and start again.']);
  }
  console.log(await renewAdminToken(server));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
