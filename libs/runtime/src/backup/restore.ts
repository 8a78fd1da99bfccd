import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { from as copyFrom } from 'pg-copy-streams';
import { type MediaStore, MediaStoreError } from '#media';
import { type BoundedClient, migrate, migrationNames, MIGRATIONS_FOLDER } from '#platform';
import { BackupError, type BackupManifest, tableFile, type TableInBackup } from './backup.js';
import { connectForCopies, quoted } from './backup-tables.js';
import { type NamedFile, namedFiles } from './stored-files.js';

export interface RestoreOptions {
  /** Writes into a store that has files already, for example those of this very installation; same names are replaced. */
  readonly intoFilledStore?: boolean;
}

/**
 * Fills an empty database and an empty store from a backup: all rows in one transaction, each table checked against
 * what was counted when the backup was made, then the files, each compared with the rows that name it. Migrations the
 * backup does not have yet run first; they only ever expand. Start the gateway afterwards.
 *
 * @throws BackupError when there is no whole backup, it is of a newer version, or the database or the store is not empty;
 * and in the end, when files are missing that rows name.
 */
export async function restoreBackup(
  databaseUrl: string,
  store: MediaStore,
  folder: string,
  { intoFilledStore = false }: RestoreOptions = {},
): Promise<BackupManifest> {
  const manifest = await readManifest(folder);
  // Before anything is written: files of another installation would be replaced, or removed with tasks they are not of.
  if (!intoFilledStore && !(await store.isEmpty())) {
    throw new BackupError('The store is not empty: restore into an unused one, or pass --force.');
  }
  await migrate(databaseUrl);
  const client = await connectForCopies(databaseUrl, 'restore');
  let named: readonly NamedFile[];
  try {
    await client.query('BEGIN');
    for (const table of manifest.tables) await copyIn(client, table, folder);
    await advanceSequences(client, manifest.tables);
    named = await namedFiles(client);
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
  const stored = new Map<string, string>();
  for (const { key, bytes, contentType } of manifest.files) {
    const options = { contentType, maxBytes: bytes, expectedBytes: bytes };
    const { sha256 } = await store.put(key, createReadStream(join(folder, 'files', key)), options);
    stored.set(key, sha256);
  }
  await expectEveryFile(store, { named, stored, missing: new Set(manifest.missingFiles) });
  return manifest;
}

interface FilesOfRestore {
  /** By the rows. */
  readonly named: readonly NamedFile[];
  /** From the backup, with the hash of what was stored. */
  readonly stored: ReadonlyMap<string, string>;
  /** The store had them no more when the backup was made. */
  readonly missing: ReadonlySet<string>;
}

/** Each file that a row names lies in the store with the bytes of which the row has the hash. */
async function expectEveryFile(store: MediaStore, { named, stored, missing }: FilesOfRestore): Promise<void> {
  const wrong: string[] = [];
  for (const { key, bytes, sha256 } of named) {
    const isThere = stored.has(key) ? stored.get(key) === sha256 : (await sizeOf(store, key)) === bytes;
    if (!isThere && !missing.has(key)) wrong.push(key);
  }
  if (wrong.length === 0) return;
  throw new BackupError(
    `Everything that the backup holds was restored, but of ${wrong.length} files that its tables name it has none, or ` +
      `other bytes: ${wrong.join(', ')}`,
  );
}

/** Undefined: it is not there. One that the backup lacks may be in a store that was kept. */
async function sizeOf(store: MediaStore, key: string): Promise<number | undefined> {
  return store.size(key).catch((error: unknown) => {
    if (error instanceof MediaStoreError && error.code === 'not_found') return undefined;
    throw error;
  });
}

async function readManifest(folder: string): Promise<BackupManifest> {
  const text = await readFile(join(folder, 'manifest.json'), 'utf8').catch((cause: unknown) => {
    throw new BackupError(`${folder} holds no whole backup: manifest.json is missing.`, { cause });
  });
  const manifest = JSON.parse(text) as BackupManifest;
  const known = new Set(migrationNames(MIGRATIONS_FOLDER));
  if (manifest.migrations.some((name) => !known.has(name))) {
    throw new BackupError(`The backup was made by version ${manifest.version}, which is newer: restore it with that.`);
  }
  return manifest;
}

async function copyIn(client: BoundedClient, table: TableInBackup, folder: string): Promise<void> {
  const name = quoted(table.name);
  const { rows } = await client.query<{ filled: boolean }>(`select exists (select 1 from ${name}) as filled`);
  if (rows[0]?.filled) {
    throw new BackupError(`The table ${table.name} is not empty: restore into an unused database.`);
  }
  const hash = createHash('sha256');
  const hashing = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  // What triggers have written before stands in the backup as well.
  await client.query(`alter table ${name} disable trigger user`);
  const target = client.query(copyFrom(`copy ${name} (${table.columns.map(quoted).join(', ')}) from stdin`));
  await pipeline(createReadStream(tableFile(folder, table.name)), createGunzip(), hashing, target);
  await client.query(`alter table ${name} enable trigger user`);
  if (target.rowCount !== table.rows || hash.digest('hex') !== table.sha256) {
    throw new BackupError(`The rows of ${table.name} are not those that were saved: the backup is damaged.`);
  }
}

const IDENTITIES = `
select c.relname as name, a.attname as column, pg_get_serial_sequence(quote_ident(c.relname), a.attname) as sequence
from pg_class c join pg_attribute a on a.attrelid = c.oid
where c.relnamespace = 'public'::regnamespace and c.relname = any($1) and a.attidentity <> ''`;

/** The next generated number must come after those that were restored. */
async function advanceSequences(client: BoundedClient, tables: readonly TableInBackup[]): Promise<void> {
  const names = tables.map(({ name }) => name);
  const { rows } = await client.query<{ name: string; column: string; sequence: string }>(IDENTITIES, [names]);
  for (const { name, column, sequence } of rows) {
    const highest = `(select max(${quoted(column)}) from ${quoted(name)})`;
    await client.query(`select setval($1, coalesce(${highest}, 0) + 1, false)`, [sequence]);
  }
}
