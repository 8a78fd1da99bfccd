import { setTimeout as sleep } from 'node:timers/promises';
import { logger } from '../log/logger.js';

const log = logger('loop');

/**
 * Runs a piece of work repeatedly with a pause in between, one at a time, until stopped. Errors are logged and
 * never end it. The work answers true when more is waiting, and is then run again without the pause.
 */
export class PeriodicTask {
  private readonly abort = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly name: string,
    private readonly pauseMs: number,
    private readonly work: () => Promise<boolean>,
  ) {}

  start(): void {
    this.running = this.run();
  }

  /** Resolves when the piece of work under way is done. */
  async stop(): Promise<void> {
    this.abort.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.abort.signal.aborted) {
      const more = await this.work().catch((error: unknown) => {
        log.error('loop.failed', { loop: this.name, error });
        return false;
      });
      if (!more) await this.pause();
    }
  }

  /** A little jitter keeps replicas from waking together. */
  private async pause(): Promise<void> {
    const { signal } = this.abort;
    await sleep(this.pauseMs * (0.8 + Math.random() * 0.4), undefined, { signal }).catch(() => undefined);
  }
}

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
