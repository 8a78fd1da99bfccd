// The price book as a file: `npm run prices -- import FILE [--dry-run]` puts dated prices into it, all or nothing;
// `npm run prices -- export` prints what is in force and what is to come in the same form. Works on DATABASE_URL, else
// on DATA_DIR, whether the gateway runs or not.
import { parseArgs } from 'node:util';
import 'reflect-metadata';
import { exportPrices, importPrices, priceFileYaml, readPricesFile } from '#features';
import { ConfigError, loadEnvironmentFile } from '#platform';
import { readProcessConfig, withDatabase } from '#runtime';
import { stringify } from 'yaml';

try {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { 'dry-run': { type: 'boolean' } } });
  const [command, file] = positionals;
  loadEnvironmentFile();
  if (command === 'export') {
    const book = await withDatabase(readProcessConfig(), exportPrices);
    process.stdout.write([...priceFileYaml(book)].join(''));
  } else if (command === 'import' && file) {
    const read = readPricesFile(file);
    const done = await withDatabase(readProcessConfig(), (database) =>
      importPrices(database, read, values['dry-run'] === true),
    );
    console.log(stringify(done));
    if (done.conflicts.length + (done.lists?.conflicts.length ?? 0) > 0) process.exitCode = 1;
  } else throw new ConfigError(['Say "import FILE", with --dry-run to only look, or "export".']);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
