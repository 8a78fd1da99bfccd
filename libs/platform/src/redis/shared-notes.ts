import type { Cluster, Redis } from 'ioredis';
import { within } from '../clock/time-limit.js';
import { parseRedisAddress } from './redis-address.js';
import { connect, FAIL_FAST } from './redis-connection.js';

/** A note that comes later is not waited for, in milliseconds. */
const READ_TIMEOUT_MS = 50;
/** After one that did not come, Redis is not asked for so long. */
const REST_MS = 1_000;

/** Short notes that processes share, and do well without: what cannot be read in time is not there, what cannot be written is lost. */
export interface SharedNotes {
  /** Null where there is none; undefined where nobody says in time whether there is. Never throws. */
  read(name: string): Promise<string | null | undefined>;
  /** Begins to write a note that is forgotten after so many seconds. */
  write(name: string, note: string, seconds: number): void;
  /** Begins to remove one. */
  remove(name: string): void;
  close(): void;
}

export class RedisNotes implements SharedNotes {
  private readonly redis: Redis | Cluster;
  private readonly prefix: string;
  private restsUntilMs = 0;

  /** @param kind names what the notes are about, in their keys. */
  constructor(redisUrl: string, prefix: string, kind: string) {
    this.prefix = `${prefix}:${kind}:`;
    this.redis = connect(parseRedisAddress(redisUrl), { ...FAIL_FAST, commandTimeout: READ_TIMEOUT_MS });
  }

  /** Redis has 50 ms to say whether there is one. */
  async read(name: string): Promise<string | null | undefined> {
    if (performance.now() < this.restsUntilMs) return undefined;
    try {
      return await within(this.redis.get(this.prefix + name), READ_TIMEOUT_MS);
    } catch {
      this.restsUntilMs = performance.now() + REST_MS;
      return undefined;
    }
  }

  write(name: string, note: string, seconds: number): void {
    this.redis.set(this.prefix + name, note, 'EX', seconds).catch(ignore);
  }

  remove(name: string): void {
    this.redis.del(this.prefix + name).catch(ignore);
  }

  close(): void {
    this.redis.disconnect();
  }
}

/** The connection logs its own faults. */
const ignore = (): void => undefined;
