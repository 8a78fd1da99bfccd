const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Seconds between the attempts of a delivery: ten attempts over a day. */
const DELAYS_SECONDS = [5, 30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 14 * HOUR] as const;

/**
 * How long to wait after the given number of failed attempts, in milliseconds, spread by a tenth either way; null when
 * a day of attempts is over.
 */
export function retryDelayMs(attempts: number, random: () => number = Math.random): number | null {
  const seconds = DELAYS_SECONDS[attempts - 1];
  return seconds === undefined ? null : Math.round(seconds * 1000 * (0.9 + random() / 5));
}
