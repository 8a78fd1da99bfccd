import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { EmbeddedPostgresError, explainPostgresFailure } from './database/embedded-postgres-error.js';

/**
 * Makes a folder of DATA_DIR and those above it. One by one from the top: Node's own recursive form never comes back from
 * a file system that refuses new entries by saying that their parent is missing, as /proc does.
 *
 * @throws EmbeddedPostgresError in one line: a part of the path is a file, or nothing may be made there.
 */
export function makeDataFolder(dataDir: string): void {
  const missing: string[] = [];
  for (let folder = resolve(dataDir); !exists(folder, dataDir); folder = dirname(folder)) missing.push(folder);
  try {
    for (const folder of missing.toReversed()) makeOne(folder);
  } catch (error) {
    throw explainPostgresFailure('Creating the folder', dataDir, String(error));
  }
}

function makeOne(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process that starts in the same moment may have made it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function exists(folder: string, dataDir: string): boolean {
  try {
    if (statSync(folder).isDirectory()) return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if ((code === 'ENOENT' || code === 'ENOTDIR') && folder !== dirname(folder)) return false;
    throw explainPostgresFailure('Opening the folder', dataDir, String(error));
  }
  throw new EmbeddedPostgresError(`DATA_DIR ${dataDir} cannot be used: ${folder} is a file, not a folder.`);
}
