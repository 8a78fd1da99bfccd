// Not the global one, which tests may have put a controllable one in place of.
import { setTimeout as pause } from 'node:timers/promises';

/** Less than the five minutes that a test has, so that the condition is named and not only the test. */
const LIMIT_MS = 240_000;
const PAUSE_MS = 10;

/** How long to wait for a condition. */
interface Patience {
  readonly limitMs?: number;
  readonly pauseMs?: number;
  /** What there is instead, for the message of the failure. */
  readonly shows?: () => string;
}

/** What was found; a condition that holds answers `true`. */
type Found<T> = Exclude<T, false | null | undefined>;

/**
 * Waits for a condition: asks until `find` answers something else than `false`, `null` or `undefined`, and answers that.
 * @param find may throw, which ends the wait.
 * @throws Error that shows the condition when it did not hold within `limitMs`.
 */
export async function eventually<T>(
  find: () => Promise<T> | T,
  { limitMs = LIMIT_MS, pauseMs = PAUSE_MS, shows }: Patience = {},
): Promise<Found<T>> {
  const deadlineMs = performance.now() + limitMs;
  for (;;) {
    const found = await find();
    if (found !== false && found !== null && found !== undefined) return found as Found<T>;
    if (performance.now() > deadlineMs)
      throw new Error([`not within ${limitMs} ms: ${find.toString()}`, ...(shows ? [shows()] : [])].join('\n'));
    await pause(pauseMs);
  }
}
