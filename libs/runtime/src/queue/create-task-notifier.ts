import type { QueueConfig } from '#platform';
import { BullmqTaskNotifier } from './bullmq-task-notifier.js';
import { PostgresStore } from './postgres-store.js';
import { RedisStore } from './redis-store.js';
import type { TaskNotifier } from './task-notifier.js';

/**
 * The notifier of this process: on Redis when `REDIS_URL` is set, which may be absent now and come later; else on the
 * Postgres of `databaseUrl`, which is waited for.
 *
 * @throws Error when `REDIS_URL` cannot be read, or Postgres cannot be reached or prepared.
 */
export async function createTaskNotifier(config: QueueConfig, databaseUrl: string): Promise<TaskNotifier> {
  const store =
    config.REDIS_URL === undefined
      ? await PostgresStore.open(databaseUrl)
      : new RedisStore(config.REDIS_URL, config.QUEUE_PREFIX);
  return new BullmqTaskNotifier(store);
}
