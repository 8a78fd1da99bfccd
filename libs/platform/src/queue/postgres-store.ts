import {
  type BackendFactory,
  createPostgresBackend,
  DEFAULT_SCHEMA,
  type IQueueBackend,
  isPgPool,
  runMigrations,
} from 'bullmq';
import { Pool } from 'pg';
import { retryOnConnectionError } from '../database/connection-errors.js';
import type { DoorbellStore } from './doorbell-store.js';

/** Each listener holds one connection for itself; the rest serves all queues. */
const POOL_SIZE = 8;

/**
 * Keeps the queues in Postgres, in a schema of their own. Only plain jobs: delays and retries of BullMQ deadlock there
 * when several workers run. Needs a direct address of the server, because listeners use LISTEN.
 */
export class PostgresStore implements DoorbellStore {
  readonly forRinging: BackendFactory<IQueueBackend, object>;
  readonly forListening: BackendFactory<IQueueBackend, object>;

  private constructor(private readonly pool: Pool) {
    this.forRinging = (name, options, extra) => {
      // Our pool is what BullMQ asks for, but the typings of the driver and of BullMQ do not know each other.
      const connection: unknown = pool;
      if (!isPgPool(connection)) throw new TypeError('The queue needs a pool of the pg package.');
      return createPostgresBackend(name, { ...options, connection }, extra);
    };
    this.forListening = this.forRinging;
  }

  /** Opens the store and brings its schema up to date; any number of processes may do so at once. */
  static async open(databaseUrl: string): Promise<PostgresStore> {
    const pool = new Pool({
      connectionString: databaseUrl,
      max: POOL_SIZE,
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
      application_name: 'generation-gateway-queue',
      // A bell that a crash of the server forgets is found by the sweeper, so no bell waits for the disk.
      options: `-c search_path=${DEFAULT_SCHEMA} -c synchronous_commit=off`,
    });
    pool.on('error', () => undefined);
    // Also between being ready and being handed out.
    pool.on('connect', (client) => client.on('error', () => undefined));
    await retryOnConnectionError(() => migrateSchema(pool));
    return new PostgresStore(pool);
  }

  ping(): Promise<unknown> {
    return this.pool.query('SELECT 1');
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}

async function migrateSchema(pool: Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await runMigrations(client, DEFAULT_SCHEMA);
  } finally {
    client.release();
  }
}
