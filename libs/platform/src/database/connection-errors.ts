import { setTimeout as sleep } from 'node:timers/promises';
import { isNativeError } from 'node:util/types';

/** Shutting down, crashed, starting up (57P0x) and the connection exceptions (08xxx) of Postgres. */
const SERVER_CODES = /^(57P0[1-3]|08...)$/;
const SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** The driver reports a few losses by words only. */
const DRIVER_MESSAGES = /connection terminated|not queryable|timeout exceeded when trying to connect|Connection ended/i;

const FIRST_DELAY_MS = 50;
const DELAY_MAX_MS = 1_000;

/** True when the connection failed, not the statement: whether it took effect is then unknown. */
export function isConnectionError(error: unknown): boolean {
  if (!isNativeError(error)) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string') return SERVER_CODES.test(code) || SYSTEM_CODES.has(code);
  return DRIVER_MESSAGES.test(error.message);
}

/**
 * Repeats `work` while the connection to Postgres fails, for at most `limitMs` milliseconds. Only for work that may
 * happen twice, for example reads and guarded updates: the first attempt may have taken effect unseen.
 *
 * @throws the last error, or at once any error that is not about the connection.
 */
export async function retryOnConnectionError<Result>(work: () => Promise<Result>, limitMs = 15_000): Promise<Result> {
  const deadlineMs = Date.now() + limitMs;
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(2 * delayMs, DELAY_MAX_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isConnectionError(error) || Date.now() + delayMs > deadlineMs) throw error;
      await sleep(delayMs);
    }
  }
}
