import { PrismaPg } from '@prisma/adapter-pg';
import { Pool, type PoolClient, type QueryResult, type QueryResultRow, types } from 'pg';
import { logger } from '../log/logger.js';
import { isConnectionError } from './connection-errors.js';
import { DatabaseConfig } from './database.config.js';
import { PrismaClient } from './generated/client.js';
import { repeatOnLockConflict } from './lock-conflict.js';

const log = logger('database');

/** One SQL statement. A `name` makes the server keep its plan: use it for fixed texts on hot paths. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** How the pool of this process stands, in connections; `waiting` counts statements that wait for one. */
export interface PoolUse {
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
  readonly limit: number;
}

/** Where a statement can run: on any connection, or inside a transaction. */
export interface StatementRunner {
  query<Row extends QueryResultRow>(statement: Statement): Promise<QueryResult<Row>>;
}

/**
 * The database of this process: one pool of connections, used by plain statements and by the Prisma client alike.
 * Values arrive as `bigint` (int8), `Date` (timestamptz) and `string` (numeric).
 */
export class Database implements StatementRunner {
  /** For everything that is not on a hot path. */
  readonly prisma: PrismaClient;
  private readonly pool: Pool;

  constructor(databaseUrl: string, config: DatabaseConfig = new DatabaseConfig()) {
    this.pool = new Pool({
      connectionString: databaseUrl,
      max: config.DATABASE_POOL_SIZE,
      connectionTimeoutMillis: config.DATABASE_CONNECT_TIMEOUT_SECONDS * 1000,
      statement_timeout: config.DATABASE_STATEMENT_TIMEOUT_SECONDS * 1000,
      application_name: 'generation-gateway',
      keepAlive: true,
      types: { getTypeParser },
    });
    this.pool.on('error', (error) => log.warn('connection.lost', { error }));
    // A connection can break in the moment between being ready and being handed out, when nobody listens yet; an error
    // without a listener would end the process. Whoever uses the connection learns of it from the next statement.
    this.pool.on('connect', (client) => client.on('error', () => undefined));
    this.prisma = new PrismaClient({ adapter: new PrismaPg(this.pool) });
  }

  /** Runs one statement. One that lost a conflict of locks is run again, which is always safe: it was rolled back. */
  query<Row extends QueryResultRow>(statement: Statement): Promise<QueryResult<Row>> {
    return repeatOnLockConflict(
      () => this.pool.query<Row>(toQuery(statement)),
      (error) => log.warn('statement.repeated', { statement: statement.name, error }),
    );
  }

  /**
   * Runs `work` on one connection between BEGIN and COMMIT; rolls back and rethrows when it throws.
   * Never repeated: whether a commit happened whose connection was lost is known only to the caller's own guards.
   */
  async transaction<Result>(work: (transaction: StatementRunner) => Promise<Result>): Promise<Result> {
    const client = await this.pool.connect();
    let broken = false;
    try {
      await client.query('BEGIN');
      const result = await work({ query: (statement) => client.query(toQuery(statement)) });
      await client.query('COMMIT');
      return result;
    } catch (error) {
      broken = isConnectionError(error) || !(await rollBack(client));
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** True when the server answers within the connect timeout. */
  async isReachable(): Promise<boolean> {
    try {
      await this.pool.query('SELECT 1');
      return true;
    } catch {
      return false;
    }
  }

  /** How busy the pool is at this moment. */
  connections(): PoolUse {
    const { totalCount: total, idleCount: idle, waitingCount: waiting, options } = this.pool;
    return { total, idle, waiting, limit: options.max };
  }

  /** Waits for running statements and closes all connections. */
  async close(): Promise<void> {
    await this.prisma.$disconnect();
    await this.pool.end();
  }
}

async function rollBack(client: PoolClient): Promise<boolean> {
  try {
    await client.query('ROLLBACK');
    return true;
  } catch {
    return false;
  }
}

const toQuery = ({ name, text, values = [] }: Statement) =>
  name === undefined ? { text, values: [...values] } : { name, text, values: [...values] };

const toBigInts = (items: readonly (string | null)[]): (bigint | null)[] =>
  items.map((item) => (item === null ? null : BigInt(item)));

/** By type id: int8 and its array, which the driver would leave as text. */
const BIGINT_PARSERS = new Map<number, (parsed: unknown) => unknown>([
  [20, (parsed) => BigInt(parsed as string)],
  [1016, (parsed) => toBigInts(parsed as (string | null)[])],
]);

/** Set for our pool only: the parsers of the module are shared with Prisma and BullMQ. */
const getTypeParser: typeof types.getTypeParser = (oid, format) => {
  const parse: (text: string) => unknown = types.getTypeParser(oid, format);
  const toBigInt = format === 'binary' ? undefined : BIGINT_PARSERS.get(oid);
  return toBigInt === undefined ? parse : (text: string) => toBigInt(parse(text));
};
