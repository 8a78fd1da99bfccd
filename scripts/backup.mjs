// Saves everything the gateway remembers to a new folder: `npm run backup -- FOLDER`. The gateway may keep working.
import 'reflect-metadata';
import { backUp } from '#runtime';
import { loadEnvironmentFile } from '#platform';

const [folder] = process.argv.slice(2);
try {
  if (!folder) throw new Error('Say where to: npm run backup -- FOLDER');
  loadEnvironmentFile();
  const { tables, files, missingFiles } = await backUp(folder);
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  console.log(`Saved ${rows} rows of ${tables.length} tables and ${files.length} files to ${folder}.`);
  if (missingFiles.length > 0)
    console.log(`The store no longer had ${missingFiles.length} files: ${missingFiles.join(', ')}`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
