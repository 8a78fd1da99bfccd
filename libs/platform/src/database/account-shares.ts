import { GatewayError } from '#contracts';

/** The part of the connections that an account may use whatever the others use. */
const SHARE = 1 / 4;

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
 * other accounts leave, so that none can hold them all. What finds no place waits in the order in which it came, and is
 * refused when its wait ends: that account alone notices.
 */
export class AccountShares {
  /** Those at work; none of the others waits. */
  readonly #accounts = new Map<string, Share>();
  #running = 0;
  #waiting = 0;

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
    const share = this.#shareOf(accountId);
    if (share.waiting.size === 0 && this.#hasPlace(share)) this.#count(share, 1);
    else await this.#turnOf(share);
    try {
      return await work();
    } finally {
      this.#count(share, -1);
      this.#letOthersBegin();
      this.#forgetIfIdle(accountId, share);
    }
  }

  #shareOf(accountId: string): Share {
    const known = this.#accounts.get(accountId);
    if (known) return known;
    const share: Share = { running: 0, waiting: new Set() };
    this.#accounts.set(accountId, share);
    return share;
  }

  #hasPlace({ running }: Share): boolean {
    const leftByOthers = this.places - (this.#running - running);
    return running < Math.max(1, Math.floor(this.places * SHARE), Math.floor(leftByOthers / 2));
  }

  /** Resolves when the work is counted as running. */
  #turnOf(share: Share): Promise<void> {
    if (share.waiting.size >= WAITING_MAX) return Promise.reject(tooMuchAtOnce());
    return new Promise((resolve, reject) => {
      const end = (): void => {
        share.waiting.delete(waiting);
        this.#waiting -= 1;
        reject(tooMuchAtOnce());
      };
      const waiting: Waiting = { begin: resolve, timer: setTimeout(end, this.waitMs) };
      share.waiting.add(waiting);
      this.#waiting += 1;
    });
  }

  #letOthersBegin(): void {
    if (this.#waiting === 0) return;
    for (const share of this.#accounts.values()) {
      const [next] = share.waiting;
      if (!next || !this.#hasPlace(share)) continue;
      share.waiting.delete(next);
      this.#waiting -= 1;
      clearTimeout(next.timer);
      this.#count(share, 1);
      next.begin();
    }
  }

  #count(share: Share, change: 1 | -1): void {
    share.running += change;
    this.#running += change;
  }

  #forgetIfIdle(accountId: string, share: Share): void {
    if (share.running === 0 && share.waiting.size === 0) this.#accounts.delete(accountId);
  }
}

const tooMuchAtOnce = (): GatewayError =>
  new GatewayError(
    'rate_limit_exceeded',
    'The account has too many database queries running at once; send this request again when others have been answered.',
    { retryAfterMs: RETRY_AFTER_MS },
  );
