// Makes another API key and prints it, for an operator that lost theirs: `npm run new-key -- [--account ID] [--name NAME]`, for the
// first account unless another is named. Without DATABASE_URL it works on DATA_DIR, whether the gateway runs or not.
import { parseArgs } from 'node:util';
import 'reflect-metadata';
import { createKey } from '#features';
import { loadEnvironmentFile } from '#platform';
import { readProcessConfig, withDatabase } from '#runtime';

try {
  const { values } = parseArgs({ options: { account: { type: 'string' }, name: { type: 'string' } } });
  loadEnvironmentFile();
  const config = readProcessConfig();
  console.log(await withDatabase(config, (database, secrets) => createKey(database, secrets, values)));
} catch (error) {
  console.error(error.publicMessage ?? error.message);
  process.exitCode = 1;
}
