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
