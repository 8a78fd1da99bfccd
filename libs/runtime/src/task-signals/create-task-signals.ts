import type { Cluster, Redis } from 'ioredis';
import {
  connect,
  type Database,
  FAIL_FAST,
  logger,
  parseRedisAddress,
  type QueueConfig,
  WAIT_FOR_SERVER,
} from '#platform';
import { WakeupBuffer } from '../queue/wakeup-buffer.js';
import { PostgresSignals } from './postgres-signals.js';
import { type ChangedTasks, fromMessage, type TaskSignals, toMessages } from './task-signals.js';

const log = logger('task-signals');

/** How often the subscriber asks whether Redis is still there, in milliseconds: nothing else would ever be answered. */
const HEARTBEAT_MS = 2_000;

/** Signals through Redis publish and subscribe: nothing is kept there, and Postgres is not touched. */
class RedisSignals implements TaskSignals {
  private readonly buffer: WakeupBuffer;
  private readonly channel: string;
  private readonly publisher: Redis | Cluster;
  private subscriber: Redis | Cluster | undefined;
  private heartbeat: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly redisUrl: string,
    prefix: string,
  ) {
    this.channel = `${prefix}:task-changed`;
    this.publisher = connect(parseRedisAddress(redisUrl), FAIL_FAST);
    this.buffer = new WakeupBuffer(
      (taskIds) => Promise.all(toMessages(taskIds).map((message) => this.publisher.publish(this.channel, message))),
      (dropped, error) => log.debug('signals.dropped', { dropped, error }),
    );
  }

  publish(taskIds: readonly string[]): void {
    if (!this.closed) this.buffer.add(taskIds);
  }

  subscribe(listener: (changed: ChangedTasks) => void): void {
    const subscriber = connect(parseRedisAddress(this.redisUrl), WAIT_FOR_SERVER);
    this.subscriber = subscriber;
    this.heartbeat = setInterval(() => {
      if (subscriber.status === 'ready') subscriber.ping().catch(() => undefined);
    }, HEARTBEAT_MS).unref();
    subscriber.on('message', (_channel: string, message: string) => listener(fromMessage(message)));
    // The client subscribes again by itself after an outage; signals sent meanwhile were missed.
    subscriber.on('ready', () => listener('all'));
    subscriber.subscribe(this.channel).catch((error: unknown) => {
      if (!this.closed) log.warn('signals.unavailable', { error });
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.heartbeat);
    await this.buffer.drained();
    this.publisher.disconnect();
    this.subscriber?.disconnect();
  }
}

/** The signals of this process: through Redis when `REDIS_URL` is set, else through the Postgres of `databaseUrl`. */
export const createTaskSignals = (config: QueueConfig, databaseUrl: string, database: Database): TaskSignals =>
  config.REDIS_URL === undefined
    ? new PostgresSignals(databaseUrl, database)
    : new RedisSignals(config.REDIS_URL, config.QUEUE_PREFIX);
