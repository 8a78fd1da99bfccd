import { GatewayError } from '#contracts';

/** The part of the connections that an account may use where there are so many. */
const SHARE = 1 / 4;
/**
 * The part that all accounts may use together, so that what is short and needed by everybody, such as looking up a key or holding
 * money, never waits behind it: for further work of accounts that are served already, and for the first of others.
 */
const ALL = { further: 1 / 2, first: 3 / 4 } as const;

/** The most pieces of work of one account that wait for a connection. */
const WAITING_MAX = 1_000;

/** When to send a request again that found no place, in milliseconds. */
const RETRY_AFTER_MS = 2_000;

interface Waiting {
  readonly begin: () => void;
  readonly timer: NodeJS.Timeout;
}

interface Share {
  running: number;
  readonly waiting: Set<Waiting>;
}

/**
 * Bounds how many connections of a pool an account occupies at once: a quarter of them, and beyond that half of what the
 * other accounts leave, so that none can hold them all, and neither can all together. What finds no place waits, that of an account
 * in the order in which it came, that of the account with least at work first, and is refused when its wait ends: that account alone
 * notices.
 */
export class AccountShares {
  /** Those at work; none of the others waits. */
  private readonly accounts = new Map<string, Share>();
  private running = 0;
  private waiting = 0;

  /**
   * @param places connections of the pool.
   * @param waitMs the longest wait for a place, in milliseconds.
   */
  constructor(
    private readonly places: number,
    private readonly waitMs: number,
  ) {}

  /**
   * Does work that occupies one connection, as soon as the account may have it.
   *
   * @throws GatewayError `rate_limit_exceeded`: the account's other work did not end in time, or too much of it waits.
   */
  async during<Result>(accountId: string, work: () => Promise<Result>): Promise<Result> {
    const share = this.shareOf(accountId);
    if (share.waiting.size === 0 && this.hasPlace(share)) this.count(share, 1);
    else await this.turnOf(share);
    try {
      return await work();
    } finally {
      this.count(share, -1);
      this.letOthersBegin();
      this.forgetIfIdle(accountId, share);
    }
  }

  private shareOf(accountId: string): Share {
    const known = this.accounts.get(accountId);
    if (known) return known;
    const share: Share = { running: 0, waiting: new Set() };
    this.accounts.set(accountId, share);
    return share;
  }

  private hasPlace({ running }: Share): boolean {
    const ofAll = Math.max(1, Math.floor(this.places * (running === 0 ? ALL.first : ALL.further)));
    const leftByOthers = this.places - (this.running - running);
    const ofOne = Math.max(1, Math.floor(this.places * SHARE), Math.floor(leftByOthers / 2));
    return this.running < ofAll && running < ofOne;
  }

  /** Resolves when the work is counted as running. */
  private turnOf(share: Share): Promise<void> {
    if (share.waiting.size >= WAITING_MAX) return Promise.reject(tooMuchAtOnce());
    return new Promise((resolve, reject) => {
      const end = (): void => {
        share.waiting.delete(waiting);
        this.waiting -= 1;
        reject(tooMuchAtOnce());
      };
      const waiting: Waiting = { begin: resolve, timer: setTimeout(end, this.waitMs) };
      share.waiting.add(waiting);
      this.waiting += 1;
    });
  }

  private letOthersBegin(): void {
    while (this.waiting > 0) {
      const share = this.nextShare();
      const [next] = share?.waiting ?? [];
      if (!share || !next) return;
      share.waiting.delete(next);
      this.waiting -= 1;
      clearTimeout(next.timer);
      this.count(share, 1);
      next.begin();
    }
  }

  /** Of those that wait and may begin, the one with least at work. */
  private nextShare(): Share | undefined {
    let least: Share | undefined;
    for (const share of this.accounts.values())
      if (share.waiting.size > 0 && (!least || share.running < least.running) && this.hasPlace(share)) least = share;
    return least;
  }

  private count(share: Share, change: 1 | -1): void {
    share.running += change;
    this.running += change;
  }

  private forgetIfIdle(accountId: string, share: Share): void {
    if (share.running === 0 && share.waiting.size === 0) this.accounts.delete(accountId);
  }
}

const tooMuchAtOnce = (): GatewayError =>
  new GatewayError(
    'rate_limit_exceeded',
    'The account has too many database queries running at once; send this request again when others have been answered.',
    { retryAfterMs: RETRY_AFTER_MS },
  );
