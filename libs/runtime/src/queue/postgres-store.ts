import {
  type BackendFactory,
  createPostgresBackend,
  DEFAULT_SCHEMA,
  type IQueueBackend,
  isPgPool,
  runMigrations,
} from 'bullmq';
import { BoundedClient, BoundedPool, retryOnConnectionError } from '#platform';
import type { WakeupStore } from './wakeup-store.js';

/** What BullMQ asks of a pool, and what it is given for its first question. */
interface PoolOfQueue<Client> {
  connect(): Promise<Client>;
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/**
 * The pool, on which the first connection always comes and answers. BullMQ asks once whether the schema is there, before
 * anything else, and remembers the answer forever: if it was that the server could not be reached, its queue would stay
 * dead until the process ends. So this one question is asked until it is answered; all others may fail as they do.
 */
function withSureFirstConnection<Client, Pool extends PoolOfQueue<Client>>(pool: Pool): Pool {
  const first = {
    query: (text: string, values?: unknown[]) => retryOnConnectionError(() => pool.query(text, values), Infinity),
    release: () => undefined,
  };
  let isFirst = true;
  const connect = (): Promise<unknown> => {
    if (!isFirst) return pool.connect();
    isFirst = false;
    return Promise.resolve(first);
  };
  return new Proxy(pool, {
    get: (target, name) => {
      if (name === 'connect') return connect;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const SEARCH_PATH = `-c search_path=${DEFAULT_SCHEMA}`;

/** Each listener holds one connection for itself; the rest serves all queues. */
const POOL_SIZE = 8;

/** How long anything may take, and how often the connections of listeners are looked after, in milliseconds. */
const LIMIT_MS = 3_000;
const HEARTBEAT_MS = 2_000;

/**
 * How long one statement that brings the schema up to date may take, the wait for another process that does so included,
 * and how long it is tried, in milliseconds.
 */
const MIGRATION_LIMIT_MS = 10_000;
const MIGRATION_RETRY_MS = 60_000;

/**
 * Keeps the queues in Postgres, in a schema of their own. Only plain jobs: delays and retries of BullMQ deadlock there
 * when several workers run. Needs a direct address of the server, because listeners use LISTEN.
 */
export class PostgresStore implements WakeupStore {
  readonly forNotifying: BackendFactory<IQueueBackend, object>;
  readonly forListening: BackendFactory<IQueueBackend, object>;

  private constructor(private readonly pool: BoundedPool) {
    this.forNotifying = (name, options, extra) => {
      // Our pool is what BullMQ asks for, but the typings of the driver and of BullMQ do not know each other.
      const connection: unknown = pool;
      if (!isPgPool(connection)) throw new TypeError('The queue needs a pool of the pg package.');
      return createPostgresBackend(name, { ...options, connection: withSureFirstConnection(connection) }, extra);
    };
    this.forListening = this.forNotifying;
  }

  /** Opens the store and brings its schema up to date; any number of processes may do so at once. */
  static async open(databaseUrl: string): Promise<PostgresStore> {
    const pool = new BoundedPool({
      connectionString: databaseUrl,
      max: POOL_SIZE,
      connectionTimeoutMillis: LIMIT_MS,
      statementLimitMs: LIMIT_MS,
      heartbeatMs: HEARTBEAT_MS,
      application_name: 'generation-gateway-queue',
      // A wake-up that a crash of the server forgets is found by the sweeper, so no wake-up waits for the disk.
      options: `${SEARCH_PATH} -c synchronous_commit=off`,
    });
    pool.on('error', () => undefined);
    await retryOnConnectionError(() => migrateSchema(databaseUrl), MIGRATION_RETRY_MS);
    return new PostgresStore(pool);
  }

  ping(): Promise<unknown> {
    return this.pool.query('SELECT 1');
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}

async function migrateSchema(databaseUrl: string): Promise<void> {
  const client = new BoundedClient({
    connectionString: databaseUrl,
    connectionTimeoutMillis: LIMIT_MS,
    statementLimitMs: MIGRATION_LIMIT_MS,
    application_name: 'generation-gateway-queue',
    options: SEARCH_PATH,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await runMigrations(client, DEFAULT_SCHEMA);
  } finally {
    await client.end();
  }
}
