import { type Pool, type PoolClient, type QueryResult, type QueryResultRow, types } from 'pg';
import { TimeoutError, within } from '../clock/time-limit.js';
import { logger } from '../log/logger.js';
import { AccountShares } from './account-shares.js';
import type { LimitedStatement } from './bounded-client.js';
import { BoundedPool } from './bounded-pool.js';
import { isUsable, repeatOnLockConflict } from './connection-errors.js';
import { DatabaseConfig } from './database.config.js';
import type { Prisma, PrismaClient } from './generated/client.js';

const log = logger('database');

const HOUR_MS = 3_600_000;
/** How much longer we wait than the server lets a statement run, in milliseconds. */
const GRACE_MS = 2_000;
/** Transactions of the gateway never wait between their statements. */
const IDLE_IN_TRANSACTION_MS = 10_000;
/** A database that answers no statement for so long, while some wait, must answer a question at once to be fit for requests; in milliseconds. */
const UNFIT_AFTER_MS = 1_500;
const AT_ONCE_MS = 400;
/** The part of the wait for an answer after which the server itself ends a statement. */
const ENDED_BY_SERVER_AFTER = 0.85;

/** One SQL statement. A `name` makes the server keep its plan: use it for fixed texts on hot paths. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
  /**
   * How long it may take. Absent: as long as a request may wait (`DATABASE_ANSWER_TIMEOUT_MS`). `long`: background work
   * (`DATABASE_STATEMENT_TIMEOUT_SECONDS`). `hour`: what reads whole tables; it must lift the limit of the server itself.
   */
  readonly limit?: 'long' | 'hour';
}

/** How the pool of this process stands, in connections; `waiting` counts statements that wait for one. */
interface PoolUse {
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
  readonly limit: number;
}

/** Where a statement can run: on any connection, or inside a transaction. */
export interface StatementRunner {
  query<Row extends QueryResultRow>(statement: Statement): Promise<QueryResult<Row>>;
}

/** The database as one account may use it: on its share of the connections. */
export interface AccountDatabase extends StatementRunner {
  /** As `Database.transaction`. @throws GatewayError `rate_limit_exceeded`: no place came in time. */
  transaction<Result>(work: (transaction: StatementRunner) => Promise<Result>): Promise<Result>;
  /** One query of the models, or one transaction of them. @throws GatewayError as `transaction`. */
  withModels<Result>(work: (models: Models) => Promise<Result>): Promise<Result>;
}

/**
 * The database of this process: one pool of connections, used by plain statements and by the models alike.
 * Values arrive as `bigint` (int8), `Date` (timestamptz) and `string` (numeric).
 */
export class Database implements StatementRunner {
  private readonly pool: BoundedPool;
  private openedModels: Promise<Models> | undefined;
  private readonly limitsMs: Readonly<Record<'long' | 'hour', number>>;
  private readonly longMs: number;
  private readonly shares: AccountShares;

  constructor(databaseUrl: string, config: DatabaseConfig = new DatabaseConfig()) {
    const longMs = config.DATABASE_STATEMENT_TIMEOUT_SECONDS * 1000;
    const connectMs = config.DATABASE_CONNECT_TIMEOUT_SECONDS * 1000;
    const answerMs = config.DATABASE_ANSWER_TIMEOUT_MS;
    this.longMs = longMs;
    this.shares = new AccountShares(config.DATABASE_POOL_SIZE, connectMs);
    // The server's own limit comes first: it keeps the connection, and is an answer, so that slow statements are not taken
    // for a silent server.
    this.limitsMs = { long: longMs + GRACE_MS, hour: HOUR_MS + GRACE_MS };
    this.pool = new BoundedPool({
      connectionString: databaseUrl,
      max: config.DATABASE_POOL_SIZE,
      connectionTimeoutMillis: connectMs,
      statementLimitMs: answerMs,
      statement_timeout: Math.ceil(answerMs * ENDED_BY_SERVER_AFTER),
      // One whose client fell silent in the middle must not keep its locks.
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      application_name: 'generation-gateway',
      types: { getTypeParser },
    });
    this.pool.on('error', (error) => log.warn('connection.lost', { error }));
  }

  /** The models, for everything that is no hot statement. On the same connections, under the same limits of time. */
  models(): Promise<Models> {
    return (this.openedModels ??= openModels(this.pool));
  }

  /** Runs one statement. One that lost a conflict of locks is run again, which is always safe: it was rolled back. */
  query<Row extends QueryResultRow>(statement: Statement): Promise<QueryResult<Row>> {
    return repeatOnLockConflict(
      () =>
        statement.limit === undefined
          ? this.pool.query<Row>(this.toQuery(statement))
          : this.transaction((transaction) => transaction.query<Row>(statement)),
      (error) => log.warn('statement.repeated', { statement: statement.name, error }),
    );
  }

  /**
   * The database as an account may use it for what costs as much as the account makes it cost, such as reading what it stored:
   * on a share of the connections. What it asks beyond its share waits, and is refused when nothing becomes free in time.
   *
   * @param accountId null: for reports of all accounts; operators share the connections as one account does.
   */
  of(accountId: string | null): AccountDatabase {
    const share = accountId ?? 'operators';
    const during = <Result>(work: () => Promise<Result>): Promise<Result> => this.shares.run(share, work);
    return {
      query: (statement) => during(() => this.query(statement)),
      transaction: (work) => during(() => this.transaction(work)),
      withModels: async (work) => {
        const models = await this.models();
        return during(() => work(models));
      },
    };
  }

  ofOperators(): AccountDatabase {
    return this.of(null);
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
      const result = await work({ query: (statement) => this.runOn(client, statement) });
      await client.query('COMMIT');
      return result;
    } catch (error) {
      broken = !isUsable(error) || !(await rollBack(client));
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /**
   * Runs `work` on a connection of its own, outside of any transaction, for statements that cannot be part of one, such as making
   * an index while rows are written. Each may take an hour; advisory locks end with it.
   */
  async session<Result>(work: (session: StatementRunner) => Promise<Result>): Promise<Result> {
    const client = await this.pool.connect();
    try {
      await client.query(`set statement_timeout = ${HOUR_MS}`);
      return await work({
        query: <Row extends QueryResultRow>(statement: Statement) =>
          client.query<Row>(this.toQuery({ ...statement, limit: 'hour' })),
      });
    } finally {
      client.release(true);
    }
  }

  /**
   * Why requests are not served at the moment, in one plain sentence; null when they are. Judged by the connections that
   * requests use and the results of their statements: a connection made for the question would prove nothing.
   *
   * @throws Error when the server refuses the question.
   */
  async unfitness(): Promise<string | null> {
    if (this.pool.silence) return 'the database does not answer';
    const isSuspected = this.pool.waitingMs() > UNFIT_AFTER_MS;
    const asked = this.pool.query<{ writes: boolean }>(
      `select current_setting('transaction_read_only') = 'off' as writes`,
    );
    try {
      const { rows } = await (isSuspected ? within(asked, AT_ONCE_MS) : asked);
      return rows[0]?.writes ? null : 'the database only reads';
    } catch (error) {
      if (error instanceof TimeoutError) return 'statements wait for the database without an answer';
      throw error;
    }
  }

  connections(): PoolUse {
    const { totalCount: total, idleCount: idle, waitingCount: waiting, options } = this.pool;
    return { total, idle, waiting, limit: options.max };
  }

  private async runOn<Row extends QueryResultRow>(client: PoolClient, statement: Statement): Promise<QueryResult<Row>> {
    if (statement.limit === 'long') await client.query(`set local statement_timeout = ${this.longMs}`);
    return client.query<Row>(this.toQuery(statement));
  }

  private toQuery({ name, text, values = [], limit }: Statement): QueryOfDriver {
    return {
      text,
      values: [...values],
      ...(name !== undefined && { name }),
      ...(limit !== undefined && { limitMs: this.limitsMs[limit] }),
    };
  }

  /** Waits for running statements and closes all connections. */
  async close(): Promise<void> {
    await (await this.openedModels)?.$disconnect();
    await this.pool.end();
  }
}

interface QueryOfDriver extends LimitedStatement {
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
}

async function rollBack(client: PoolClient): Promise<boolean> {
  try {
    await client.query('ROLLBACK');
    return true;
  } catch {
    return false;
  }
}

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

/**
 * Vacuum and similar write no rows of ours, however long they take. When a transaction of another role began is not
 * shown to us; that it has the table open is.
 */
const MAY_BE_WRITTEN = `
select exists (
  select from pg_stat_activity a
  where datname = current_database() and pid <> pg_backend_pid()
    and coalesce(backend_type, 'client backend') = 'client backend'
    and (xact_start < $2 or (xact_start is null and exists (
      select from pg_locks l where l.pid = a.pid and l.relation = $1::regclass)))
) as written`;

/**
 * True while a transaction is open that began before `time`, and so may still commit rows of a table that belong to
 * that time. Once it is false, a statement that begins afterwards sees all of them. The table's name is one of ours.
 */
export async function mayStillBeWritten(runner: StatementRunner, table: string, time: Date): Promise<boolean> {
  const { rows } = await runner.query<{ written: boolean }>({ text: MAY_BE_WRITTEN, values: [table, time] });
  return rows[0]?.written !== false;
}

/** The models of prisma/schema.prisma with their types: rows in camelCase, `bigint` for int8, `Date` for timestamptz. */
type Models = PrismaClient;

export type ModelTransaction = Prisma.TransactionClient;

/**
 * How long one transaction of the models may take in all, in milliseconds. Each statement in it ends within the limit of
 * the pool; this bounds how many of them a slow server can string together.
 */
const TRANSACTION_LIMIT_MS = 10_000;

/**
 * Opens the model client on a pool whose connections it shares. Loaded when it is first asked for, because its code and
 * its query compiler cost some 70 MB and a part of a second, which a process that only runs statements need not pay.
 */
async function openModels(pool: Pool): Promise<Models> {
  const [{ PrismaPg }, { PrismaClient: Client }] = await Promise.all([
    import('@prisma/adapter-pg'),
    import('./generated/client.js'),
  ]);
  return new Client({
    adapter: new PrismaPg(pool),
    transactionOptions: { maxWait: TRANSACTION_LIMIT_MS, timeout: TRANSACTION_LIMIT_MS },
  });
}
