import { type BackendFactory, createRedisBackend, type IQueueBackend } from 'bullmq';
import type { Cluster, Redis } from 'ioredis';
import { connect, FAIL_FAST, parseRedisAddress, type QueueConfig, WAIT_FOR_SERVER } from '#platform';
import { BullmqTaskNotifier } from './bullmq-task-notifier.js';
import { PostgresStore } from './postgres-store.js';
import type { TaskNotifier } from './task-notifier.js';
import type { WakeupStore } from './wakeup-store.js';

/** How long the key stays that shows that Redis takes writes, in seconds. */
const ALIVE_SECONDS = 60;

/** Keeps the queues in Redis: alone, as a Cluster, or behind Sentinels. Redis may be absent at any time. */
export class RedisStore implements WakeupStore {
  readonly forNotifying: BackendFactory<IQueueBackend, object>;
  readonly forListening: BackendFactory<IQueueBackend, object>;
  private readonly notifying: Redis | Cluster;
  private readonly listening: Redis | Cluster;

  constructor(
    redisUrl: string,
    readonly prefix: string,
  ) {
    const address = parseRedisAddress(redisUrl);
    this.notifying = connect(address, FAIL_FAST);
    this.listening = connect(address, WAIT_FOR_SERVER);
    this.forNotifying = bind(this.notifying);
    this.forListening = bind(this.listening);
  }

  /** A write: a server without memory, or one that has become a replica, answers a mere ping. */
  ping(): Promise<unknown> {
    return this.notifying.set(`${this.prefix}:alive`, '1', 'EX', ALIVE_SECONDS);
  }

  /** Managed servers often come with a policy for caches. */
  async weakness(): Promise<string | null> {
    const [, policy] = /^maxmemory_policy:(\S+)/m.exec(await this.notifying.info('memory')) ?? [];
    if (policy === undefined || policy === 'noeviction') return null;
    return `Redis may drop wake-ups, limits and cooldowns: its maxmemory-policy is ${policy}, and must be noeviction`;
  }

  async close(): Promise<void> {
    this.notifying.disconnect();
    this.listening.disconnect();
  }
}

const bind =
  (connection: Redis | Cluster): BackendFactory<IQueueBackend, object> =>
  (name, options, extra) =>
    createRedisBackend(name, { ...options, connection }, extra);

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
