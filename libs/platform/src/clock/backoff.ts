/** How waits between attempts grow; times in milliseconds. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
  /** The part by which a wait is spread at random, either way, so that many who failed together do not come back together. Default 0. */
  readonly spread?: number;
}

/**
 * How long to wait after a failure: it doubles from the first to the longest, in whole milliseconds.
 *
 * @param failures how many there were before this one.
 * @param random a number from 0 to 1.
 */
export function backoffMs(
  { firstMs, longestMs, spread = 0 }: Backoff,
  failures: number,
  random: () => number = Math.random,
): number {
  const middle = Math.min(longestMs, firstMs * 2 ** failures);
  return Math.round(spread === 0 ? middle : middle * (1 - spread + 2 * spread * random()));
}

/** The same in a statement, as an interval. @param failures an expression that counts those before this one. */
export const backoffSql = ({ firstMs, longestMs, spread = 0 }: Backoff, failures: string): string =>
  `(${1 - spread} + ${2 * spread} * random()) * least(${longestMs}, ${firstMs} * 2 ^ least(${failures}, 30)) * interval '1 millisecond'`;
