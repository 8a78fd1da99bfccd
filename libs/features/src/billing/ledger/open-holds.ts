import { type Database, logger } from '#platform';
import { RENEW_HOLDS } from './request-statements.js';

const log = logger('ledger');

/** Keeps the holds of this process's living requests from expiring, however long a stream lasts. */
export class OpenHolds {
  private readonly requestIds = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  /** `renewalMs`: how often holds are put off by `expiresSeconds` again; several renewals must fit into that time. */
  constructor(
    private readonly database: Database,
    private readonly expiresSeconds: number,
    private readonly renewalMs: number,
  ) {}

  add(requestId: string): void {
    this.requestIds.add(requestId);
    this.timer ??= setInterval(() => void this.renew(), this.renewalMs).unref();
  }

  /** The request is over. A hold that could not be settled expires from now on. */
  remove(requestId: string): void {
    this.requestIds.delete(requestId);
    if (this.requestIds.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** The process ends: what is still open expires from now on. */
  close(): void {
    clearInterval(this.timer);
    this.requestIds.clear();
  }

  private async renew(): Promise<void> {
    try {
      await this.database.query({ text: RENEW_HOLDS, values: [[...this.requestIds], this.expiresSeconds] });
    } catch (error) {
      log.warn('holds.renewal_failed', { holds: this.requestIds.size, error });
    }
  }
}
