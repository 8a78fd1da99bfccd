import { type BackendFactory, createRedisBackend, type IQueueBackend } from 'bullmq';
import type { Cluster, Redis } from 'ioredis';
import { connect, LISTENING, parseRedisAddress, RINGING } from '#platform';
import type { DoorbellStore } from './doorbell-store.js';

/** How long the key stays that shows that Redis takes writes, in seconds. */
const ALIVE_SECONDS = 60;

/** Keeps the queues in Redis: alone, as a Cluster, or behind Sentinels. Redis may be absent at any time. */
export class RedisStore implements DoorbellStore {
  readonly forRinging: BackendFactory<IQueueBackend, object>;
  readonly forListening: BackendFactory<IQueueBackend, object>;
  private readonly ringing: Redis | Cluster;
  private readonly listening: Redis | Cluster;

  constructor(
    redisUrl: string,
    readonly prefix: string,
  ) {
    const address = parseRedisAddress(redisUrl);
    this.ringing = connect(address, RINGING);
    this.listening = connect(address, LISTENING);
    this.forRinging = bind(this.ringing);
    this.forListening = bind(this.listening);
  }

  /** A write: a server without memory, or one that has become a replica, answers a mere ping. */
  ping(): Promise<unknown> {
    return this.ringing.set(`${this.prefix}:alive`, '1', 'EX', ALIVE_SECONDS);
  }

  async close(): Promise<void> {
    this.ringing.disconnect();
    this.listening.disconnect();
  }
}

const bind =
  (connection: Redis | Cluster): BackendFactory<IQueueBackend, object> =>
  (name, options, extra) =>
    createRedisBackend(name, { ...options, connection }, extra);
