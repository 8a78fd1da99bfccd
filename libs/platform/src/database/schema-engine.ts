import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { MigrationList } from '@prisma/schema-engine-wasm/schema_engine_bg';
import { readMigrations } from './migrations-folder.js';

/** The longest one script may take, in milliseconds. */
const SCRIPT_LIMIT_MS = 3_600_000;

/** A migration could not be applied; the message quotes the database. */
export class MigrationError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MigrationError';
  }
}

/**
 * Applies what is missing with Prisma's own engine, which keeps its usual `_prisma_migrations` table, so the Prisma
 * command line can take over at any time. Answers the names of the applied migrations.
 *
 * @throws MigrationError when a script fails, or an earlier one failed and was not resolved.
 */
export async function applyMigrations(databaseUrl: string, folder: string): Promise<string[]> {
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
export const SCRIPT_LOCK = 4_720_250_717;

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
