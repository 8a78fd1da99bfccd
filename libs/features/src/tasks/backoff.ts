import { backoffMs } from '#platform';

const BACKOFF = { firstMs: 1_000, longestMs: 60_000, spread: 0.25 };

/** How long a task waits after a failed attempt, in milliseconds. @param failures the attempts that failed before. */
export const backoffDelayMs = (failures: number): number => backoffMs(BACKOFF, failures);
