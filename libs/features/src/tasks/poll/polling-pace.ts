import type { HeldPoll } from './leased-polls.js';

/** Bounds of asking one vendor. Times in milliseconds. */
export const POLLING = {
  /** The most operations claimed at once. */
  batch: 500,
  /** The most polls under way at once in one process. */
  inFlight: 1_000,
  /** The most polls begun without letting other work of the process continue. */
  inOneGo: 32,
  /** The pause when little was due. */
  idleMs: 100,
  /** After so long without an answer a poll gets the lease, so that no other process polls meanwhile. */
  slowMs: 500,
  /** The longest one poll may take, as a part of the lease, where the upstream needs no longer. */
  timeoutShare: 0.5,
  /** The same for asking a vendor to stop. A poll comes behind it, and both fit into the lease. */
  cancelTimeoutShare: 0.3,
  /** What a poll leaves of its lease for what follows from the answer. */
  reserveShare: 0.2,
  /** How long a vendor is left alone that refused for its rate and named no time: doubling with each time in a row. */
  busyMs: { first: 2_000, longest: 60_000 },
  /** Time from one poll of an operation to the next. With it, finished work is visible within 2 s at the 95th percentile. */
  steadyDelayMs: 1_200,
  /** The same after the first poll; it grows by a third with each, until it is steady. */
  firstDelayMs: 300,
  /** How long a claim holds an operation: the polls of that time cost one write. At most `holdShare` of the lease. */
  holdMs: 7_200,
  holdShare: 0.5,
} as const;

/**
 * How long until the next poll when the vendor gave no hint: quickly while the first claim holds, then at a steady pace, and
 * never sooner than the upstream is to be asked.
 */
export function ownDelayMs({ poll, polls }: HeldPoll, leastMs: number): number {
  const early = poll.claims === 1 ? POLLING.firstDelayMs * 1.3 ** polls : Number.POSITIVE_INFINITY;
  const quick = Math.min(early, POLLING.steadyDelayMs);
  return Math.round(Math.max(leastMs, quick) * (0.9 + Math.random() / 5));
}

/** How long a vendor is left alone that names no time. @param inARow how often it was so before, with no answer in between. */
export function busyPauseMs(inARow: number): number {
  const { first, longest } = POLLING.busyMs;
  return Math.min(longest, first * 2 ** Math.min(inARow, 10)) * (0.75 + Math.random() / 2);
}
