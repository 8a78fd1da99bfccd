import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MigrationList } from '@prisma/schema-engine-wasm/schema_engine_bg';

const LOCK_FILE = 'migration_lock.toml';
const SCRIPT = 'migration.sql';

/** The folder with the migrations of this product, found from the source tree and from the build alike. */
export const MIGRATIONS_FOLDER = join(findPackageRoot(dirname(fileURLToPath(import.meta.url))), 'prisma', 'migrations');

/** Names of the migrations in a folder, in the order in which they apply. */
export const migrationNames = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(folder, entry.name, SCRIPT)))
    .map((entry) => entry.name)
    .sort();

export const readMigrations = (folder: string): MigrationList => ({
  baseDir: folder,
  lockfile: { path: LOCK_FILE, content: readFileSync(join(folder, LOCK_FILE), 'utf8') },
  shadowDbInitScript: '',
  migrationDirectories: migrationNames(folder).map((path) => ({
    path,
    migrationFile: { path: SCRIPT, content: { tag: 'ok', value: readFileSync(join(folder, path, SCRIPT), 'utf8') } },
  })),
});

function findPackageRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : findPackageRoot(dirname(folder));
}

const PACKAGE = join(dirname(dirname(MIGRATIONS_FOLDER)), 'package.json');

export const VERSION = (JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string }).version;
