// Fills an empty installation from a folder that `npm run backup` made: `npm run restore -- FOLDER`. Start it afterwards.
import 'reflect-metadata';
import { loadEnvironmentFile, restore } from '#platform';

const [folder] = process.argv.slice(2);
try {
  if (!folder) throw new Error('Say where from: npm run restore -- FOLDER');
  loadEnvironmentFile();
  const { tables, files, madeAt } = await restore(folder);
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  console.log(`Restored ${rows} rows of ${tables.length} tables and ${files.length} files, as of ${madeAt}.`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
