import { logger } from '../log/logger.js';

const log = logger('redis');

/** The same trouble is logged once in so many milliseconds, however often it is met. */
const QUIET_MS = 60_000;
/** More different ones than any one outage has. */
const MOST_REMEMBERED = 100;

const lastLoggedAt = new Map<string, number>();

/**
 * Logs why a Redis or a Sentinel cannot be used: its certificate, its password, its network. Of an error only the words:
 * a command that failed may hold the password.
 */
export function logRedisError(server: string, { message }: Error): void {
  const trouble = `${server} ${message}`;
  const nowMs = performance.now();
  if (nowMs - (lastLoggedAt.get(trouble) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
  if (lastLoggedAt.size >= MOST_REMEMBERED) lastLoggedAt.clear();
  lastLoggedAt.set(trouble, nowMs);
  log.warn('redis.unusable', { server, reason: message });
}
