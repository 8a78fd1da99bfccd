import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg';
import type { MigrationList } from '@prisma/schema-engine-wasm/schema_engine_bg';
import { BoundedClient } from './bounded-client.js';
import { migrationNames, MIGRATIONS_FOLDER, readMigrations } from '../package-files.js';
import { NamedError } from '../named-error.js';

/** An arbitrary number, used for nothing else: one starting process migrates, all others wait for it. */
const MIGRATION_LOCK = 4_720_250_716;
const LOCK_TIMEOUT_MS = 120_000;
const LOCK_TURN_MS = 100;

/** Anything that answers a SQL query: a pool, a client or our database. */
interface Queryable {
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

/** The longest one script may take, in milliseconds. */
const SCRIPT_LIMIT_MS = 3_600_000;

/** A migration could not be applied; the message quotes the database. */
class MigrationError extends NamedError {}

/**
 * Applies what is missing with Prisma's own engine, which keeps its usual `_prisma_migrations` table, so the Prisma
 * command line can take over at any time. Answers the names of the applied migrations.
 *
 * @throws MigrationError when a script fails, or an earlier one failed and was not resolved.
 */
async function applyMigrations(databaseUrl: string, folder: string): Promise<string[]> {
  const migrationsList = readMigrations(folder);
  const connection = {
    connectionString: databaseUrl,
    max: 1,
    connectionTimeoutMillis: 10_000,
    // A migration of a large table takes its time; a connection that died in it must end some day.
    query_timeout: SCRIPT_LIMIT_MS,
    keepAlive: true,
  };
  const adapter = new WholeScriptPrismaPg(connection, scriptsOf(migrationsList));
  const engine = await openEngine(adapter);
  try {
    const filters = { externalTables: [], externalEnums: [] };
    const { appliedMigrationNames } = await engine.applyMigrations({ migrationsList, filters });
    return appliedMigrationNames;
  } catch (error) {
    throw new MigrationError(`The database could not be migrated: ${adapter.failure ?? messageOf(error)}`, {
      cause: error,
    });
  } finally {
    engine.free();
    await adapter.close();
  }
}

/** Prisma's engine for schemas, on the database of an adapter. The caller frees it. */
export async function openEngine(adapter: PrismaPg): Promise<bindings.SchemaEngine> {
  await loadEngine();
  const factory = bindMigrationAwareSqlAdapterFactory(adapter);
  return bindings.SchemaEngine.new({ datamodels: undefined }, () => undefined, factory);
}

/** The part of the standard API used here; the typings of this Node version leave it out. */
declare const WebAssembly: {
  instantiate(
    program: Uint8Array,
    imports: Record<string, Record<string, unknown>>,
  ): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

type ConnectedAdapter = Awaited<ReturnType<PrismaPg['connect']>>;

const scriptsOf = ({ migrationDirectories }: MigrationList): ReadonlySet<string> =>
  new Set(
    migrationDirectories.flatMap(({ migrationFile: { content } }) => (content.tag === 'ok' ? [content.value] : [])),
  );

/** Records the migration that runs as applied. The engine does so too, but in a statement of its own. */
const RECORD_APPLIED = `
UPDATE _prisma_migrations SET finished_at = now(), applied_steps_count = 1
WHERE finished_at IS NULL AND rolled_back_at IS NULL;`;

/** Held by the session that runs a script, which can outlive the process that sent it. */
const SCRIPT_LOCK = 4_720_250_717;

/**
 * Sends a script as a whole: the original splits it at every semicolon, which breaks bodies of functions. A migration and
 * its record are one transaction, so that a process may die at any moment and the next one knows what was done. One that
 * makes indexes while others write cannot be one: its statements run one by one, and all of them again where one did not.
 */
class WholeScriptPrismaPg extends PrismaPg {
  /** What the database said about the script that failed. */
  failure: string | undefined;
  private readonly connected: ConnectedAdapter[] = [];

  constructor(
    connection: ConstructorParameters<typeof PrismaPg>[0],
    private readonly migrations: ReadonlySet<string>,
  ) {
    super(connection);
  }

  override async connect(): Promise<ConnectedAdapter> {
    const adapter = await super.connect();
    this.connected.push(adapter);
    adapter.executeScript = async (script) => {
      try {
        const driver = adapter.underlyingDriver();
        if (!this.migrations.has(script)) await driver.query(script);
        else if (CONCURRENTLY.test(script)) await runOneByOne(driver, script);
        else await driver.query(transactionOf(script));
      } catch (error) {
        this.failure = messageOf(error);
        throw error;
      }
    };
    return adapter;
  }

  async close(): Promise<void> {
    const pools = this.connected.map((adapter) => adapter.underlyingDriver());
    await Promise.all(pools.filter((pool) => !pool.ending).map((pool) => pool.end()));
  }
}

const transactionOf = (script: string): string =>
  `BEGIN; SELECT pg_advisory_xact_lock(${SCRIPT_LOCK}); ${script}; ${RECORD_APPLIED} COMMIT;`;

const CONCURRENTLY = /^\s*(create|drop)\s+(unique\s+)?index\s+concurrently\b/im;

async function runOneByOne(driver: ReturnType<ConnectedAdapter['underlyingDriver']>, script: string): Promise<void> {
  const statements = script.replace(/^\s*--.*$/gm, '').split(';');
  const connection = await driver.connect();
  try {
    await connection.query(`SELECT pg_advisory_lock(${SCRIPT_LOCK})`);
    for (const statement of statements.filter((text) => text.trim() !== '')) await connection.query(statement);
    await connection.query(RECORD_APPLIED);
    await connection.query(`SELECT pg_advisory_unlock(${SCRIPT_LOCK})`);
  } finally {
    // Ending the session frees the lock too.
    connection.release(true);
  }
}

let engineLoaded: Promise<void> | undefined;

/** Instantiates the WebAssembly engine once. Node cannot import a .wasm file by itself yet. */
function loadEngine(): Promise<void> {
  return (engineLoaded ??= instantiate());
}

async function instantiate(): Promise<void> {
  const scriptPath = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const program = await readFile(scriptPath.replace(/\.js$/, '.wasm'));
  const imports = Object.fromEntries(
    Object.entries(bindings).map(([name, value]) => [name, withoutLinger(name, value)]),
  );
  const { instance } = await WebAssembly.instantiate(program, { './schema_engine_bg.js': imports });
  bindings.__wbg_set_wasm(instance.exports);
  (instance.exports['__wbindgen_start'] as () => void)();
}

/** The engine never clears the timer of its ten-second lock limit, which would keep a finished process alive. */
const withoutLinger = <Binding>(name: string, binding: Binding) =>
  name.startsWith('__wbg_setTimeout_')
    ? (callback: () => void, delayMs: number) => setTimeout(callback, delayMs).unref()
    : binding;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
