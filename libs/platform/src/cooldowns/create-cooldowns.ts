import { type Clock, systemClock } from '../clock/clock.js';
import type { Database } from '../database/database.js';
import type { QueueConfig } from '../redis/queue.config.js';
import type { CooldownStore } from '../circuits/cooldown-store.js';
import { Cooldowns } from '../circuits/cooldowns.js';
import { PostgresCooldownStore } from './postgres-cooldown-store.js';
import { RedisCooldownStore } from './redis-cooldown-store.js';

/** Cooldowns shared through Redis when there is one; kept here when this process is the only one; else shared through Postgres. */
export const createCooldowns = (
  config: QueueConfig,
  database: Database,
  isOnlyProcess: boolean,
  { clock = systemClock, claimTimeoutMs }: { readonly clock?: Clock; readonly claimTimeoutMs?: number } = {},
): Cooldowns => new Cooldowns(clock, storeOf(config, database, isOnlyProcess), claimTimeoutMs);

function storeOf(config: QueueConfig, database: Database, isOnlyProcess: boolean): CooldownStore | undefined {
  if (config.REDIS_URL !== undefined) return new RedisCooldownStore(config.REDIS_URL, config.QUEUE_PREFIX);
  return isOnlyProcess ? undefined : new PostgresCooldownStore(database);
}
