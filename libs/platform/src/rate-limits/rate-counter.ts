import { IsIn } from 'class-validator';
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRedis,
} from 'rate-limiter-flexible';
import { Batcher } from '../batching/batcher.js';
import { within } from '../clock/time-limit.js';
import { Variable } from '../config/variable.js';
import type { Statement, StatementRunner } from '../database/database.js';
import { parseRedisAddress, type QueueConfig } from '../redis/redis-address.js';
import { connect, FAIL_FAST } from '../redis/redis-connection.js';
import { lruCache } from '../lru-cache.js';

/** Counts are kept for a window of this length, in seconds, that begins with the first point, unless one is asked for. */
export const RATE_WINDOW_SECONDS = 60;

/** An answer later than this counts as a failure, in milliseconds: a limit must never cost more than what it guards. */
const COUNT_TIMEOUT_MS = 500;

/** The most points of one key that are counted together, and the most keys that are remembered as busy. */
const TOGETHER_MAX = 1_000;
const BUSY_KEYS_MAX = 10_000;

/** How the running window of a key stands. */
export interface RateCount {
  /** Points so far, those just added included. */
  readonly points: number;
  /** Time until the window ends and the count begins again. */
  readonly resetsInMs: number;
}

/** Counts points for each key, shared by all replicas where there are any. */
export interface RateCounter {
  /**
   * Adds points to the window of a key; 0 only reads it.
   *
   * @param seconds how long the window is, the same at each call for the key.
   * @throws Error within half a second when the counts cannot be reached.
   */
  add(key: string, points: number, seconds?: number): Promise<RateCount>;
  close(): void;
}

/** Counts in Redis when there is one; in memory when this process is the only one; else in Postgres. */
export function createRateCounter(config: QueueConfig, database: StatementRunner, isOnlyProcess: boolean): RateCounter {
  const window = { points: Number.MAX_SAFE_INTEGER, duration: RATE_WINDOW_SECONDS };
  if (config.REDIS_URL !== undefined) {
    const redis = connect(parseRedisAddress(config.REDIS_URL), { ...FAIL_FAST, commandTimeout: COUNT_TIMEOUT_MS });
    const options = { storeClient: redis, keyPrefix: `${config.QUEUE_PREFIX}:rate`, rejectIfRedisNotReady: true };
    return new WindowCounter(new RateLimiterRedis({ ...window, ...options }), () => redis.disconnect());
  }
  if (isOnlyProcess) return new WindowCounter(new RateLimiterMemory(window), () => undefined);
  const table = { tableName: 'rate_count', tableCreated: true, clearExpiredByTimeout: true, keyPrefix: 'rate' };
  const options = { storeClient: postgresClient(database), storeType: 'pool', ...table };
  return new WindowCounter(new RateLimiterPostgres({ ...window, ...options }), () => undefined);
}

/**
 * Points of one key that come while others of it are under way are counted together: a busy key is one row of the
 * store, which as many statements as requests would have to take in turn.
 */
class WindowCounter implements RateCounter {
  private readonly keys = lruCache<string, Batcher<number, RateCount>>(BUSY_KEYS_MAX);

  constructor(
    private readonly limiter: RateLimiterAbstract,
    readonly close: () => void,
  ) {}

  async add(key: string, points: number, seconds = RATE_WINDOW_SECONDS): Promise<RateCount> {
    return within(this.together(key, seconds).add(points), COUNT_TIMEOUT_MS);
  }

  private together(key: string, seconds: number): Batcher<number, RateCount> {
    const known = this.keys.get(key);
    if (known) return known;
    const batcher = new Batcher<number, RateCount>((points) => this.count(key, seconds, points), {
      maxItems: TOGETHER_MAX,
      maxRunsInFlight: 1,
      maxWaitMs: COUNT_TIMEOUT_MS,
    });
    this.keys.set(key, batcher);
    return batcher;
  }

  /** Each gets the count as it was behind its own points. */
  private async count(key: string, seconds: number, points: readonly number[]): Promise<RateCount[]> {
    const total = points.reduce((sum, more) => sum + more, 0);
    const counted = await this.limiter.penalty(key, total, { customDuration: seconds });
    let reached = counted.consumedPoints - total;
    return points.map((more) => ({ points: (reached += more), resetsInMs: Math.max(0, counted.msBeforeNext) }));
  }
}

/** The limiter calculates with numbers; our driver reads bigint columns as such. */
const postgresClient = (database: StatementRunner) => ({
  query: async (statement: Statement) => {
    const result = await database.query<{ points: number; expire: bigint | null }>(statement);
    return { ...result, rows: result.rows.map((row) => ({ ...row, expire: row.expire && Number(row.expire) })) };
  },
});

/** What limits do when they cannot be counted, and how much open work one account may have. */
export class RateLimitsConfig {
  @Variable({
    description:
      'What happens to requests of rate-limited keys while the counters cannot be reached: allow lets them pass uncounted, refuse answers 503. Neither waits.',
  })
  @IsIn(['allow', 'refuse'])
  RATE_LIMIT_ON_STORE_FAILURE: 'allow' | 'refuse' = 'allow';

  @Variable({
    description: 'Open tasks of one account, running and queued together; more are refused with 429.',
    unit: 'tasks',
    between: [1, 10_000_000],
  })
  OPEN_TASKS_PER_ACCOUNT = 100_000;

  @Variable({
    description:
      'Free requests of one account (quotes, token counts, lists, batches of tasks, cancellations, webhook tests and settings), and as many that vendors refuse for what they hold; more are refused with 429. A key with its own rate limit counts those with a body against that limit instead, except cancellations.',
    unit: 'requests a minute',
    between: [1, 10_000_000],
  })
  FREE_REQUESTS_PER_MINUTE = 1_200;

  @Variable({
    description:
      'Requests of one account that may wait for a task at once in an API process, including event streams of tasks; more are refused with 429.',
    unit: 'requests',
    between: [1, 1_000_000],
    formerly: 'OPEN_WAITS_PER_ACCOUNT',
  })
  LONG_POLLS_PER_ACCOUNT = 1_000;

  @Variable({
    description:
      'Text requests and embeddings of one account that an API process handles at once, including streams; more are refused with 429.',
    unit: 'requests',
    between: [1, 1_000_000],
  })
  TEXTS_AT_ONCE_PER_ACCOUNT = 1_000;
}
