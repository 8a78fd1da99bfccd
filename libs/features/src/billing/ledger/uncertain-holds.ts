import { isConnectionError, logger } from '#platform';

const log = logger('ledger');

/** Longer than a statement goes on at a server whose client has left, in milliseconds. */
const PAUSE_MS = 10_000;
/** Those of a long outage beyond so many were hardly written, and expire. */
const HOLDS_MAX = 10_000;

/**
 * Holds that may have been written although their requests were refused: the connection broke before the answer came.
 * They are given back as soon as the database answers again, and not only when they expire.
 */
export class UncertainHolds {
  private readonly requestIds = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private releasing: Promise<void> | undefined;
  private isClosed = false;

  /** @param release gives a hold back, where there is one. */
  constructor(
    private readonly release: (requestId: string) => Promise<unknown>,
    private readonly pauseMs = PAUSE_MS,
  ) {}

  add(requestId: string): void {
    if (this.requestIds.size >= HOLDS_MAX) return;
    this.requestIds.add(requestId);
    this.tryLater();
  }

  /** Tries once more. What is not given back then expires. Call it while the database is still open. Never throws. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    await this.releasing;
    await this.releaseAll();
  }

  private tryLater(): void {
    if (this.isClosed) return;
    this.timer ??= setTimeout(() => {
      this.releasing = this.releaseAll();
    }, this.pauseMs).unref();
  }

  /** One that fails alone keeps none of the others; while the database is away none is tried after the first. */
  private async releaseAll(): Promise<void> {
    for (const requestId of this.requestIds) {
      try {
        await this.release(requestId);
        this.requestIds.delete(requestId);
      } catch (error) {
        log.warn('holds.not_released', { holds: this.requestIds.size, requestId, error });
        if (isConnectionError(error)) break;
      }
    }
    this.timer = undefined;
    if (this.requestIds.size > 0) this.tryLater();
  }
}
