import { setTimeout as sleep } from 'node:timers/promises';
import { BoundedClient } from './bounded-client.js';
import { MIGRATIONS_FOLDER, migrationNames } from './migrations-folder.js';
import { applyMigrations, SCRIPT_LOCK } from './schema-engine.js';

/** An arbitrary number, used for nothing else: one starting process migrates, all others wait for it. */
const MIGRATION_LOCK = 4_720_250_716;
const LOCK_TIMEOUT_MS = 120_000;
const LOCK_TURN_MS = 100;

/** Anything that answers a SQL query: a pool, a client or our database. */
export interface Queryable {
  query(statement: { readonly text: string }): Promise<{ rows: unknown[] }>;
}

/**
 * Brings the database to the schema of this version and answers the names of the migrations it applied. Any number of
 * replicas may call it at once: one works, the others wait up to two minutes. Needs a direct address of the server,
 * not one of a pooler that shares sessions.
 *
 * @throws MigrationError when a migration fails; Error of `pg` when the server cannot be reached.
 */
export async function migrate(databaseUrl: string, folder: string = MIGRATIONS_FOLDER): Promise<string[]> {
  const client = new BoundedClient({
    connectionString: databaseUrl,
    connectionTimeoutMillis: 10_000,
    statementLimitMs: LOCK_TIMEOUT_MS,
    keepAlive: true,
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    if ((await pendingMigrations(client, folder)).length === 0) return [];
    await takeLock(client, MIGRATION_LOCK);
    // The process that held the lock before may have done the work.
    if ((await pendingMigrations(client, folder)).length === 0) return [];
    await forgetInterrupted(client);
    return await applyMigrations(databaseUrl, folder);
  } finally {
    // Ending the session frees the lock too.
    await client.end();
  }
}

/**
 * A migration whose process died left a record without an end and, being one transaction, nothing else: it may run again.
 * One that failed has the words of the database in its record, and stays for an operator to handle. Only for the holder of
 * the lock: to any other process a running migration looks the same.
 */
async function forgetInterrupted(client: BoundedClient): Promise<void> {
  const { rows } = await client.query<{ exists: boolean }>(MIGRATED_BEFORE);
  if (rows[0]?.exists !== true) return;
  // The server may still be running the script of a process that is gone; it ends with the record written, or undone.
  await takeLock(client, SCRIPT_LOCK);
  await client.query('SELECT pg_advisory_unlock($1)', [SCRIPT_LOCK]);
  await client.query(`UPDATE _prisma_migrations SET rolled_back_at = now()
    WHERE finished_at IS NULL AND rolled_back_at IS NULL AND coalesce(logs, '') = ''`);
}

/**
 * Asks again and again: a statement that waits for a lock is a transaction, for whose end an index that is made concurrently
 * waits in turn.
 *
 * @throws Error after two minutes.
 */
async function takeLock(client: BoundedClient, lock: number): Promise<void> {
  for (const began = performance.now(); performance.now() - began < LOCK_TIMEOUT_MS; await sleep(LOCK_TURN_MS)) {
    const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [lock]);
    if (rows[0]?.taken === true) return;
  }
  throw new Error(
    `Another process has been migrating the database for ${LOCK_TIMEOUT_MS / 1000} s; start this one again later.`,
  );
}

const MIGRATED_BEFORE = "SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists";

/** Names of the migrations that the database lacks, in order; empty when it fits this version. For readiness checks. */
export async function pendingMigrations(database: Queryable, folder: string = MIGRATIONS_FOLDER): Promise<string[]> {
  const { rows: tables } = await database.query({ text: MIGRATED_BEFORE });
  const known = (tables as { exists: boolean }[])[0]?.exists === true;
  if (!known) return migrationNames(folder);
  const { rows } = await database.query({
    text: 'SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
  });
  const applied = new Set((rows as { migration_name: string }[]).map((row) => row.migration_name));
  return migrationNames(folder).filter((name) => !applied.has(name));
}
