import { type BackendFactory, createRedisBackend, type IQueueBackend } from 'bullmq';
import type { Cluster, Redis } from 'ioredis';
import { connect, WAIT_FOR_SERVER, parseRedisAddress, FAIL_FAST } from '#platform';
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

  async close(): Promise<void> {
    this.notifying.disconnect();
    this.listening.disconnect();
  }
}

const bind =
  (connection: Redis | Cluster): BackendFactory<IQueueBackend, object> =>
  (name, options, extra) =>
    createRedisBackend(name, { ...options, connection }, extra);
