import { GatewayError } from '#contracts';

const RETRY_AFTER_MS = 2_000;

/** Bounds the requests of an account that this process holds open while nothing happens: waits and event streams. */
export class OpenWaits {
  private readonly open = new Map<string, number>();

  constructor(private readonly maxPerAccount: number) {}

  /**
   * Counts a request until the answered function is called, once.
   *
   * @throws GatewayError `rate_limit_exceeded`: the account has as many open as it may.
   */
  enter(accountId: string): () => void {
    const open = this.open.get(accountId) ?? 0;
    if (open >= this.maxPerAccount) {
      throw new GatewayError(
        'rate_limit_exceeded',
        `The account has ${this.maxPerAccount} requests that wait for tasks, the most it may have; a webhook reports the end of a task without waiting.`,
        { retryAfterMs: RETRY_AFTER_MS },
      );
    }
    this.open.set(accountId, open + 1);
    return () => this.leave(accountId);
  }

  private leave(accountId: string): void {
    const open = (this.open.get(accountId) ?? 0) - 1;
    if (open > 0) this.open.set(accountId, open);
    else this.open.delete(accountId);
  }
}
