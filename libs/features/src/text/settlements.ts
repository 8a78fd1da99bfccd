import { type Clock, logger, SlotList } from '#platform';

const log = logger('text');

/** Pauses between the first tries of one settlement, and between all others, in milliseconds: soon after a database is back. */
const FIRST_PAUSES_MS = [100, 500, 2_500];
const PAUSE_MS = 5_000;
/** How long a settlement is tried, in milliseconds: a little less than its hold lasts, which then is given back. */
const LIMIT_MS = 45 * 60_000;

/**
 * Settlements that run after their answers have gone out: the caller need not wait for the books, nor meet their
 * failure. One that fails is tried again almost as long as its hold lasts; one that never succeeds leaves its hold, which
 * the sweeper gives back.
 */
export class Settlements {
  private readonly running = new SlotList<Promise<void>>();
  private readonly draining = new AbortController();

  constructor(private readonly clock: Clock) {}

  /**
   * Begins the settlement of a request, which must be safe to repeat. `onTried` is called after each try, whether it
   * succeeded or not.
   */
  add(requestId: string, settle: () => Promise<void>, onTried?: () => void): void {
    const slot = this.running.add(this.persist(requestId, settle, onTried).then(() => this.running.remove(slot)));
  }

  /** Resolves when every settlement that has begun is over. None waits any longer: each is tried once more. */
  async drain(): Promise<void> {
    this.draining.abort();
    while (this.running.size > 0) await Promise.all(this.running);
  }

  /** Never throws. */
  private async persist(requestId: string, settle: () => Promise<void>, onTried?: () => void): Promise<void> {
    const untilMs = this.clock.elapsedMs() + LIMIT_MS;
    for (let tried = 0; ; tried += 1) {
      const pauseMs = FIRST_PAUSES_MS[tried] ?? PAUSE_MS;
      try {
        return await settle();
      } catch (error) {
        if (this.draining.signal.aborted || this.clock.elapsedMs() > untilMs)
          return log.error('settlement.failed', { requestId, error });
        log.warn('settlement.delayed', { requestId, error, retryInMs: pauseMs });
      } finally {
        onTried?.();
      }
      await this.clock.sleep(pauseMs, this.draining.signal).catch(() => undefined);
    }
  }
}
