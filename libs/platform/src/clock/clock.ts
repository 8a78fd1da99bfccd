import { setTimeout as wait } from 'node:timers/promises';

/** The time of day and waiting, as a port, so that tests do not wait and do not depend on the date. */
export interface Clock {
  now(): Date;
  /**
   * Resolves after `delayMs` milliseconds.
   *
   * @throws the signal's `AbortError` as soon as `signal` aborts.
   */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => new Date(),
  sleep: (delayMs, signal) => wait(delayMs, undefined, signal === undefined ? {} : { signal }),
};
