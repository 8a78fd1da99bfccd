import { logger } from '#platform';

const log = logger('text');

/**
 * Settlements that run after their answers have gone out: the caller need not wait for the books. One that fails leaves
 * its hold, which the sweeper gives back.
 */
export class Settlements {
  readonly #running = new Set<Promise<void>>();

  add(settlement: Promise<void>): void {
    const running = settlement
      .catch((error: unknown) => log.error('settlement.failed', { error }))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves when every settlement that has begun is over. */
  async drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
