import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { findPostmaster } from './postmaster.js';

export const ROLE = 'gateway';
export const DATABASE = 'gateway';

/** What must be remembered between starts, readable by the owner only. */
export interface Remembered {
  readonly password: string;
  readonly port: number;
}

/** Where Postgres keeps its data below a data folder. */
export const clusterOf = (folder: string): string => join(folder, 'postgres');

const rememberedFile = (folder: string): string => join(folder, 'postgres.json');

/** Connection string of a database of the embedded server; it holds the password. */
export const urlOf = ({ password, port }: Remembered, database: string): string =>
  `postgresql://${ROLE}:${password}@127.0.0.1:${port}/${database}`;

/**
 * The address of the embedded database of a folder while it runs, for tools beside the gateway; undefined when the folder
 * has none or it is not running.
 */
export function embeddedDatabaseUrl(dataDir: string): string | undefined {
  const folder = resolve(dataDir);
  if (findPostmaster(clusterOf(folder)) === undefined) return undefined;
  const remembered = readRemembered(folder);
  return remembered && urlOf(remembered, DATABASE);
}

/**
 * What the last start noted; undefined in a folder without a database.
 *
 * @throws EmbeddedPostgresError when the folder has a database whose password is lost.
 */
export function readRemembered(folder: string): Remembered | undefined {
  const file = rememberedFile(folder);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Remembered;
  if (!existsSync(clusterOf(folder))) return undefined;
  throw new EmbeddedPostgresError(
    `DATA_DIR ${folder} has a database but no ${file}, which holds its password: restore the file, or remove the folder to start again.`,
  );
}

/** Replaces what was noted, whole or not at all. */
export function writeRemembered(folder: string, remembered: Remembered): void {
  const file = rememberedFile(folder);
  writeFileSync(`${file}.new`, `${JSON.stringify(remembered)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
