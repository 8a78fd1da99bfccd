import { backoffMs } from '#platform';
import type { TaskRow } from './task-row.js';

/** After this many failed attempts a task is given up: the next would most likely fail like the others. */
export const MAX_FAILURES = 6;

/**
 * After so many attempts that ended without a word a task is given up. Three are enough when each ended at once, before its
 * lease was renewed. Attempts that lived longer may have been ended by a rolling update, so it takes more of those.
 */
const MAX_CRASHES = { early: 3, any: 6 } as const;

/** Whether working on the task seems to end the process that does it. */
export const mayCrashWorkers = ({ crash_count: crashes, early_crash_count: early }: TaskRow): boolean =>
  early >= MAX_CRASHES.early || crashes >= MAX_CRASHES.any;

const BACKOFF = { firstMs: 1_000, longestMs: 60_000, spread: 0.25 };

/** How long a task waits after a failed attempt, in milliseconds. @param failures the attempts that failed before. */
export const backoffDelayMs = (failures: number): number => backoffMs(BACKOFF, failures);
