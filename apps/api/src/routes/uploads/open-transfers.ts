import { GatewayError } from '#contracts';

/**
 * Files of one account, and of all, that a process takes or sends at once. One that is taken may hold some 20 MB on its way to
 * S3; one that is sent holds a connection to S3 for as long as its client reads.
 */
const OF_ACCOUNT_MAX = 4;
const OF_PROCESS_MAX = 24;

const RETRY_AFTER_MS = 2_000;

/** Bounds how many files a process takes, or sends, at once, with a share for each account. */
export class OpenTransfers {
  readonly #accounts = new Map<string, number>();
  #all = 0;

  constructor(private readonly verb: 'upload' | 'download') {}

  /** @throws GatewayError `rate_limit_exceeded` or `overloaded`. */
  async during<Result>(accountId: string, work: () => Promise<Result>): Promise<Result> {
    const ofAccount = this.#accounts.get(accountId) ?? 0;
    if (ofAccount >= OF_ACCOUNT_MAX)
      throw new GatewayError('rate_limit_exceeded', `An account may ${this.verb} ${OF_ACCOUNT_MAX} files at once.`, {
        retryAfterMs: RETRY_AFTER_MS,
      });
    if (this.#all >= OF_PROCESS_MAX)
      throw new GatewayError(
        'overloaded',
        `Too many files are ${this.verb}ed at the moment; try this one again shortly.`,
        {
          retryAfterMs: RETRY_AFTER_MS,
        },
      );
    this.#count(accountId, 1);
    try {
      return await work();
    } finally {
      this.#count(accountId, -1);
    }
  }

  #count(accountId: string, change: number): void {
    this.#all += change;
    const now = (this.#accounts.get(accountId) ?? 0) + change;
    if (now > 0) this.#accounts.set(accountId, now);
    else this.#accounts.delete(accountId);
  }
}
