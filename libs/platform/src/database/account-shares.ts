import { GatewayError } from '#contracts';
import { FairSlots } from '../batching/slots.js';

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

/**
 * Bounds how many connections of a pool an account occupies at once: a quarter of them, and beyond that half of what the
 * other accounts leave, so that none can hold them all, and neither can all together. What finds no place waits, that of an account
 * in the order in which it came, and is refused when its wait ends: that account alone notices.
 */
export class AccountShares extends FairSlots {
  /**
   * @param places connections of the pool.
   * @param waitMs the longest wait for a place, in milliseconds.
   */
  constructor(
    private readonly places: number,
    waitMs: number,
  ) {
    super({ most: places, mostPerShare: places, mostWaitingPerShare: WAITING_MAX, waitMs });
  }

  protected override hasRoom(underWay: number, ofShare: number): boolean {
    const ofAll = Math.max(1, Math.floor(this.places * (ofShare === 0 ? ALL.first : ALL.further)));
    const leftByOthers = this.places - (underWay - ofShare);
    const ofOne = Math.max(1, Math.floor(this.places * SHARE), Math.floor(leftByOthers / 2));
    return underWay < ofAll && ofShare < ofOne;
  }

  /** `rate_limit_exceeded`: the account's other work did not end in time, or too much of it waits. */
  protected override refusal(): GatewayError {
    return new GatewayError(
      'rate_limit_exceeded',
      'The account has too many database queries running at once; send this request again when others have been answered.',
      { retryAfterMs: RETRY_AFTER_MS },
    );
  }
}
