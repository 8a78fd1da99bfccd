import { type Clock, logger } from '#platform';

const log = logger('text');

/** Pauses between the tries of one settlement, in milliseconds: together longer than a database takes to restart. */
const PAUSES_MS = [100, 500, 2_500, 12_500, 60_000, 300_000];

/**
 * Settlements that run after their answers have gone out: the caller need not wait for the books, nor meet their
 * failure. One that fails is tried again for minutes; one that never succeeds leaves its hold, which the sweeper gives
 * back.
 */
export class Settlements {
  readonly #clock: Clock;
  readonly #running = new Set<Promise<void>>();
  readonly #draining = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Begins the settlement of a request, which must be safe to repeat. */
  add(requestId: string, settle: () => Promise<void>): void {
    const running = this.#persist(requestId, settle)
      .catch((error: unknown) => log.error('settlement.failed', { requestId, error }))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves when every settlement that has begun is over. None waits any longer: each is tried once more. */
  async drain(): Promise<void> {
    this.#draining.abort();
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #persist(requestId: string, settle: () => Promise<void>): Promise<void> {
    for (const pauseMs of PAUSES_MS) {
      try {
        return await settle();
      } catch (error) {
        if (this.#draining.signal.aborted) throw error;
        log.warn('settlement.delayed', { requestId, error, retryInMs: pauseMs });
      }
      await this.#clock.sleep(pauseMs, this.#draining.signal).catch(() => undefined);
    }
    return settle();
  }
}
