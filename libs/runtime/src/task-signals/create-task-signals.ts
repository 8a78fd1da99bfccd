import type { Database, QueueConfig } from '#platform';
import { PostgresSignals } from './postgres-signals.js';
import { RedisSignals } from './redis-signals.js';
import type { TaskSignals } from './task-signals.js';

/** The signals of this process: through Redis when `REDIS_URL` is set, else through the Postgres of `databaseUrl`. */
export const createTaskSignals = (config: QueueConfig, databaseUrl: string, database: Database): TaskSignals =>
  config.REDIS_URL === undefined
    ? new PostgresSignals(databaseUrl, database)
    : new RedisSignals(config.REDIS_URL, config.QUEUE_PREFIX);
