import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { to as copyTo } from 'pg-copy-streams';
import type { MediaStore } from '#media';
import {
  type BoundedClient,
  migrationNames,
  MIGRATIONS_FOLDER,
  NamedError,
  pendingMigrations,
  VERSION,
} from '#platform';
import { type BackupTable, backupTables, connectForCopies, quoted } from './backup-tables.js';
import { type NamedFile, namedFiles } from './stored-files.js';

export interface TableInBackup extends BackupTable {
  readonly rows: number;
  /** SHA-256 of the file's text before it was packed. */
  readonly sha256: string;
}

/** What a backup is, in `manifest.json`; written last, so that a folder without it is no backup. */
export interface BackupManifest {
  readonly version: string;
  readonly madeAt: string;
  readonly migrations: readonly string[];
  readonly tables: readonly TableInBackup[];
  readonly files: readonly Pick<NamedFile, 'key' | 'bytes' | 'contentType'>[];
  /** Files that the store no longer had. */
  readonly missingFiles: readonly string[];
}

/** The database or the folder is not as the step needs it; the message says what to do. */
export class BackupError extends NamedError {}

/**
 * Writes everything the gateway remembers into a new folder, while it keeps working: all tables as of one moment, and
 * then the files that those tables name. Queues are left out: they are rebuilt from the tasks.
 *
 * @throws BackupError when the folder has a backup already or the database is of another version.
 */
export async function makeBackup(databaseUrl: string, store: MediaStore, folder: string): Promise<BackupManifest> {
  await mkdir(dirname(folder), { recursive: true });
  await mkdir(folder, { mode: 0o700 }).catch((cause: unknown) => {
    throw new BackupError(`${folder} cannot be made: choose a folder that does not exist yet.`, { cause });
  });
  const client = await connectForCopies(databaseUrl, 'backup');
  try {
    const pending = await pendingMigrations(client);
    if (pending.length > 0)
      throw new BackupError('The database is older than this version: run npm run migrate first.');
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    const tables: TableInBackup[] = [];
    for (const table of await backupTables(client)) tables.push(await copyOut(client, table, folder));
    const files = await namedFiles(client);
    await client.query('COMMIT');
    const manifest = {
      version: VERSION,
      madeAt: new Date().toISOString(),
      migrations: migrationNames(MIGRATIONS_FOLDER),
      tables,
      ...(await copyFiles(store, files, folder)),
    };
    await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest, null, 2));
    return manifest;
  } finally {
    await client.end();
  }
}

/** Where a table's rows are inside a backup. */
export const tableFile = (folder: string, name: string): string => join(folder, `${name}.copy.gz`);

async function copyOut(client: BoundedClient, table: BackupTable, folder: string): Promise<TableInBackup> {
  const columns = table.columns.map(quoted).join(', ');
  const rows = client.query(copyTo(`copy (select ${columns} from ${quoted(table.name)}) to stdout`));
  const hash = createHash('sha256');
  const hashing = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  await pipeline(rows, hashing, createGzip(), createWriteStream(tableFile(folder, table.name), { mode: 0o600 }));
  return { ...table, rows: rows.rowCount, sha256: hash.digest('hex') };
}

/** A file may expire between the reading of the tables and its copy; it is named, and no reason to fail. */
async function copyFiles(store: MediaStore, named: readonly NamedFile[], folder: string) {
  const files: BackupManifest['files'][number][] = [];
  const missingFiles: string[] = [];
  for (const { key, bytes, contentType } of named) {
    const target = join(folder, 'files', key);
    await mkdir(dirname(target), { recursive: true });
    try {
      await pipeline(await store.open(key), createWriteStream(target));
      files.push({ key, bytes, contentType });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      missingFiles.push(key);
    }
  }
  return { files, missingFiles };
}

const isNotFound = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'not_found';
