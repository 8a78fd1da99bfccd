import { setTimeout as sleep } from 'node:timers/promises';
import { isNativeError } from 'node:util/types';

/** A statement that the server ended because it took too long; the connection is as good as before. */
const TIMED_OUT = '57014';

/**
 * Shutting down, crashed, starting up (57P0x), no connection left (53300), the connection exceptions (08xxx) of Postgres, and a
 * statement without an answer in time, whichever side ended it.
 */
const SERVER_CODES = /^(57P0[1-3]|08...|53300|57014)$/;
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
const DRIVER_MESSAGES =
  /connection terminated|not queryable|timeout exceeded when trying to connect|timeout expired|Connection ended/i;

/** How Prisma says that it could not reach the server, or lost it. */
const PRISMA_CODES = /^P(1001|1002|1008|1017|2024)$/;

/**
 * The server works and cannot do it now: no room on its disk or in its memory (53xxx), a disk that fails (58030), a
 * statement ended for its length (57014) or a lock that was not to be had (55P03), a standby that only reads (25006), two
 * transactions that waited for each other (40P01, P2034), and one of the models that began or ended too late (P2028).
 */
const UNFIT_CODES = /^(53...|58030|57014|55P03|25006|40P01|P2028|P2034)$/;

const FIRST_DELAY_MS = 50;
const DELAY_MAX_MS = 1_000;

/** True when the connection failed, or its statement was not answered in time: whether it took effect is then unknown. */
export function isConnectionError(error: unknown): boolean {
  if (!isNativeError(error)) return false;
  const code = codeOf(error);
  if (code !== undefined && (SERVER_CODES.test(code) || SYSTEM_CODES.has(code) || PRISMA_CODES.test(code))) return true;
  if (code === undefined && DRIVER_MESSAGES.test(error.message)) return true;
  return isConnectionError(error.cause);
}

/** True when the connection itself can be used on. */
export const isUsable = (error: unknown): boolean =>
  !isConnectionError(error) || (isNativeError(error) && codeOf(error) === TIMED_OUT);

/** True when the database is there but cannot do its work for now; a repeat makes sense, later. Nothing took effect. */
export const isUnfitError = (error: unknown): boolean =>
  isNativeError(error) && (UNFIT_CODES.test(codeOf(error) ?? '') || isUnfitError(error.cause));

/** A text with NUL, which UTF-8 and JSON have and no text of Postgres may. */
const UNWRITABLE_CODES = /^(22021|22P05)$/;

/** True when a statement was refused for a text that no database takes: the sender must change it. */
export const isUnwritableText = (error: unknown): boolean =>
  isNativeError(error) && (UNWRITABLE_CODES.test(codeOf(error) ?? '') || isUnwritableText(error.cause));

/** The code of Postgres where there is one, also when the model client wrapped it. */
function codeOf(error: object): string | undefined {
  const wrapped = databaseCause(error)?.originalCode;
  if (wrapped !== undefined) return wrapped;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

/**
 * How long a request repeats a statement, in milliseconds: with the wait for a turn before it and the last attempt it
 * stays below five seconds, after which its client gets 503 with a time to wait.
 */
export const REQUEST_RETRY_MS = 2_400;

/** How long a request waits for its turn to be gathered with others into one statement, in milliseconds. */
export const REQUEST_WAIT_MS = 2_400;

/**
 * Repeats `work` while the connection to Postgres fails, for at most `limitMs` milliseconds. Only for work that may
 * happen twice, for example reads and guarded updates: the first attempt may have taken effect unseen.
 *
 * @throws the last error, or at once any error that is not about the connection.
 */
export async function retryOnConnectionError<Result>(work: () => Promise<Result>, limitMs = 15_000): Promise<Result> {
  const deadlineMs = performance.now() + limitMs;
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(2 * delayMs, DELAY_MAX_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isConnectionError(error) || performance.now() + delayMs > deadlineMs) throw error;
      await sleep(delayMs);
    }
  }
}

/** What the model client keeps of an error of Postgres, which it wraps in one of its own. */
interface DatabaseCause {
  readonly originalCode?: string;
  readonly originalMessage?: string;
}

/** The SQLSTATE and the message of an error that came through the models; null for any other error. */
function databaseCause(error: unknown): DatabaseCause | null {
  if (!isNativeError(error) || !('meta' in error)) return null;
  const { meta } = error as { meta?: { driverAdapterError?: { cause?: DatabaseCause } } };
  return meta?.driverAdapterError?.cause ?? null;
}

/** True when the database refused a row because of the named constraint or unique index. */
export function brokeConstraint(error: unknown, name: string): boolean {
  if (!isNativeError(error)) return false;
  if ('constraint' in error) return error.constraint === name;
  const cause = databaseCause(error);
  // Of a check the client keeps only the message, which names the constraint in every language of the server.
  return (cause?.originalCode?.startsWith('23') ?? false) && (cause?.originalMessage?.includes(name) ?? false);
}

/** How often work is done that loses conflicts of locks. */
const ATTEMPTS = 4;

/** A transaction that could not be put in order with others, and one that was ended because several waited in a circle. */
const CODES = new Set(['40001', '40P01']);

/** True when Postgres rolled the work back for the sake of another: nothing of it took effect, and it may run again. */
const isLockConflict = (error: unknown): boolean =>
  isNativeError(error) && 'code' in error && typeof error.code === 'string' && CODES.has(error.code);

/** Does `work` again when it lost a conflict of locks, which is always safe: nothing of it took effect. */
export async function repeatOnLockConflict<Result>(
  work: () => Promise<Result>,
  onRepeat: (error: unknown) => void = () => {},
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !isLockConflict(error)) throw error;
      onRepeat(error);
    }
  }
}
