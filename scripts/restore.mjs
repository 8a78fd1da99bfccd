// Fills an empty installation from a folder that `npm run backup` made: `npm run restore -- FOLDER`. Start it afterwards.
// With --force the store may have files already: those of the same names are replaced. The database never.
import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { loadEnvironmentFile } from '#platform';
import { restore } from '#runtime';

try {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { force: { type: 'boolean' } } });
  const [folder, ...more] = positionals;
  if (!folder || more.length > 0) throw new Error('Say where from: npm run restore -- FOLDER [--force]');
  loadEnvironmentFile();
  const { tables, files, madeAt } = await restore(folder, { intoFilledStore: values.force ?? false });
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  console.log(`Restored ${rows} rows of ${tables.length} tables and ${files.length} files, as of ${madeAt}.`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
