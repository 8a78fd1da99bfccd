// Prints a link that signs in to the console once, within 15 minutes: `npm run console-link -- [--email ADDRESS]`, for the
// owner of the first account, who is an operator too, by default. Without DATABASE_URL it works on
// DATA_DIR, whether the gateway runs or not.
import { parseArgs } from 'node:util';
import 'reflect-metadata';
import { printedConsoleLink } from '#features';
import { loadEnvironmentFile } from '#platform';
import { publicBaseUrl, readProcessConfig, withDatabase } from '#runtime';

try {
  const { values } = parseArgs({ options: { email: { type: 'string' } } });
  loadEnvironmentFile();
  const config = readProcessConfig();
  console.log(await withDatabase(config, (database) => printedConsoleLink(database, publicBaseUrl(config), values)));
} catch (error) {
  console.error(error.publicMessage ?? error.message);
  process.exitCode = 1;
}
