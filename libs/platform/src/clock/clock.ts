import { setTimeout as wait } from 'node:timers/promises';

/** Time and waiting behind an interface, so that tests neither wait nor depend on the date. */
export interface Clock {
  /** The time of day, which an operator or a time server may set forward and back. */
  now(): Date;
  /** Milliseconds since some moment: they never go back, and so tell how long something lasts. */
  elapsedMs(): number;
  /**
   * Resolves after `delayMs` milliseconds.
   *
   * @throws the signal's `AbortError` as soon as `signal` aborts.
   */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => new Date(),
  elapsedMs: () => performance.now(),
  sleep: (delayMs, signal) => wait(delayMs, undefined, signal === undefined ? {} : { signal }),
};
