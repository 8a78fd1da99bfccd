import {
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRedis,
  type RateLimiterAbstract,
} from 'rate-limiter-flexible';
import type { Database, Statement } from '../database/database.js';
import type { QueueConfig } from '../queue/queue.config.js';
import { parseRedisAddress } from '../queue/redis-address.js';
import { connect, RINGING } from '../queue/redis-store.js';

/** Counts are kept for a window of this length, in seconds, that begins with the first point. */
export const RATE_WINDOW_SECONDS = 60;

/** An answer later than this counts as a failure, in milliseconds: a limit must never cost more than what it guards. */
const COUNT_TIMEOUT_MS = 500;

/** How the running window of a key stands. */
export interface RateCount {
  /** Points so far, those just added included. */
  readonly points: number;
  /** Time until the window ends and the count begins anew. */
  readonly resetsInMs: number;
}

/** Counts points for each key, shared by all replicas where there are any. */
export interface RateCounter {
  /**
   * Adds points to the window of a key; 0 only looks.
   *
   * @throws Error within half a second when the counts cannot be reached.
   */
  add(key: string, points: number): Promise<RateCount>;
  close(): void;
}

/** Counts in Redis when there is one; in memory when this process is the only one; else in Postgres. */
export function createRateCounter(config: QueueConfig, database: Database, isOnlyProcess: boolean): RateCounter {
  const window = { points: Number.MAX_SAFE_INTEGER, duration: RATE_WINDOW_SECONDS };
  if (config.REDIS_URL !== undefined) {
    const redis = connect(parseRedisAddress(config.REDIS_URL), { ...RINGING, commandTimeout: COUNT_TIMEOUT_MS });
    const options = { storeClient: redis, keyPrefix: `${config.QUEUE_PREFIX}:rate`, rejectIfRedisNotReady: true };
    return new WindowCounter(new RateLimiterRedis({ ...window, ...options }), () => redis.disconnect());
  }
  if (isOnlyProcess) return new WindowCounter(new RateLimiterMemory(window), () => undefined);
  const table = { tableName: 'rate_count', tableCreated: true, clearExpiredByTimeout: true, keyPrefix: 'rate' };
  const options = { storeClient: postgresClient(database), storeType: 'pool', ...table };
  return new WindowCounter(new RateLimiterPostgres({ ...window, ...options }), () => undefined);
}

class WindowCounter implements RateCounter {
  constructor(
    private readonly limiter: RateLimiterAbstract,
    readonly close: () => void,
  ) {}

  async add(key: string, points: number): Promise<RateCount> {
    const counted = await within(COUNT_TIMEOUT_MS, this.limiter.penalty(key, points));
    return { points: counted.consumedPoints, resetsInMs: Math.max(0, counted.msBeforeNext) };
  }
}

/** The limiter reckons with numbers; our driver reads bigint columns as such. */
const postgresClient = (database: Database) => ({
  query: async (statement: Statement) => {
    const result = await database.query<{ points: number; expire: bigint | null }>(statement);
    return { ...result, rows: result.rows.map((row) => ({ ...row, expire: row.expire && Number(row.expire) })) };
  },
});

async function within<Value>(limitMs: number, work: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no count within ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
