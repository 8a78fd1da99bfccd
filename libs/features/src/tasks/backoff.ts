const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;

/**
 * How long to wait after a failed attempt, in milliseconds: doubling from one second to one minute, spread by a
 * quarter either way so that many tasks do not come back together. `failures` counts the attempts that failed before.
 */
export function backoffDelayMs(failures: number, random: () => number = Math.random): number {
  const middle = Math.min(LONGEST_MS, FIRST_MS * 2 ** failures);
  return Math.round(middle * (0.75 + random() / 2));
}
