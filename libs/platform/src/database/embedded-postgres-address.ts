import { existsSync, readFileSync, readlinkSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';

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

/** What Postgres writes about itself into its data folder while it runs. */
interface Postmaster {
  readonly processId: number;
  readonly port: number;
}

/** The file in which a running Postgres names itself; a crash leaves it behind. */
export const postmasterFile = (cluster: string): string => join(cluster, 'postmaster.pid');

/**
 * The Postgres server that works on a data folder now; undefined when none does.
 * The file alone proves nothing: after a crash its process id may belong to any other program.
 */
export function findPostmaster(cluster: string): Postmaster | undefined {
  const lines = readLines(postmasterFile(cluster));
  const postmaster = { processId: Number(lines[0]), port: Number(lines[3]) };
  return Number.isInteger(postmaster.processId) && worksOn(cluster, postmaster.processId) ? postmaster : undefined;
}

function worksOn(cluster: string, processId: number): boolean {
  try {
    // Postgres makes the data folder its working directory.
    if (process.platform === 'linux') return readlinkSync(`/proc/${processId}/cwd`) === realpathSync(cluster);
    process.kill(processId, 0);
    return true;
  } catch {
    return false;
  }
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}
