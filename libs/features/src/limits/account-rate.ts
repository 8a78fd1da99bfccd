import { Inject, Injectable } from '@nestjs/common';
import { GatewayError } from '#contracts';
import { logger, RATE_WINDOW_SECONDS, type RateCounter } from '#platform';
import { RATE_COUNTER } from './limit-tokens.js';

const log = logger('limits');

/** Something that costs an account nothing and us a call. */
export interface AccountAction {
  /** Names the count, for example `webhook-tests`. */
  readonly name: string;
  /** What it is, as in "20 test webhooks a minute". */
  readonly plural: string;
  readonly most: number;
  readonly within: keyof typeof SECONDS;
}

const SECONDS = { minute: RATE_WINDOW_SECONDS, day: 86_400 } as const;

/** Bounds what an account may do for nothing in a time, whichever of its keys and people asks. */
@Injectable()
export class AccountRate {
  constructor(@Inject(RATE_COUNTER) private readonly counter: RateCounter) {}

  /**
   * Counts one action. While the counts cannot be reached it lets pass: what is guarded has further bounds.
   *
   * @throws GatewayError `rate_limit_exceeded` with the time until that time is over.
   */
  async admit(accountId: string, { name, plural, most, within }: AccountAction): Promise<void> {
    const count = await this.counter.add(`${name}:${accountId}`, 1, SECONDS[within]).catch((error: unknown) => {
      log.warn('action.not_counted', { accountId, action: name, error });
      return null;
    });
    if (!count || count.points <= most) return;
    const seconds = Math.ceil(count.resetsInMs / 1000);
    throw new GatewayError(
      'rate_limit_exceeded',
      `An account may have ${most} ${plural} a ${within}; more are possible in ${seconds} s.`,
      { retryAfterMs: count.resetsInMs },
    );
  }
}
