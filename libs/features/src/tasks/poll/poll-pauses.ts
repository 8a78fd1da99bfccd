import type { MediaFailure } from '#contracts';
import type { WorkerParts } from '../run/worker-parts.js';
import { busyPauseMs } from './polling-pace.js';
import { waitMsOf } from './vendor-answers.js';

/** How long a vendor is left alone that refuses polls for their rate. Pauses are shared by all processes. */
export class PollPauses {
  /** How often the vendor refused a poll for its rate since it answered one. */
  private busyInARow = 0;

  constructor(private readonly limits: WorkerParts['limits']) {}

  /** The vendor has answered a poll. */
  end(): void {
    this.busyInARow = 0;
  }

  /**
   * Pauses as the failure asks for. Most vendors name no time: then the pause is our own, longer from time to time.
   *
   * @returns the milliseconds of the pause, 0 for none.
   */
  async after(vendorAccount: string, { kind, retryAfterMs }: MediaFailure): Promise<number> {
    const asked = waitMsOf(retryAfterMs);
    if (asked === undefined && kind !== 'busy') return 0;
    // What was under way when the pause began is refused for the same reason.
    const knownMs = this.limits.knownPauseMs(vendorAccount, 'check');
    if (!asked && knownMs > 0) return knownMs;
    const pauseMs = asked || busyPauseMs(this.busyInARow);
    if (knownMs === 0) this.busyInARow += 1;
    await this.limits.pause(vendorAccount, 'check', pauseMs);
    return pauseMs;
  }
}
