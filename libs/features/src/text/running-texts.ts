import { Inject, Injectable } from '@nestjs/common';
import { GatewayError, shuttingDown } from '#contracts';
import { PLATFORM, type Platform } from '#runtime';
import { CallerPresence } from './caller-presence.js';

/** How long callers have to read that the process ends, in milliseconds. */
const TELLING_MS = 2_000;
/** The longest wait for work whose callers are gone to end, in milliseconds: it was told to, and only settles. */
const ENDING_MS = 10_000;

/** When a caller beyond the share of its account may try again, in milliseconds. */
const RETRY_AFTER_MS = 2_000;

/**
 * The text requests of this process, each from its first step to the last byte of its answer, so that a stop loses none, and no
 * account has so many that the memory of all is gone.
 */
@Injectable()
export class RunningTexts {
  /** Each with its account. */
  readonly #callers = new Map<CallerPresence, string>();
  readonly #ofAccount = new Map<string, number>();
  #isDraining = false;
  #whenNone: (() => void)[] = [];
  readonly #maxPerAccount: number;

  constructor(@Inject(PLATFORM) { config }: Pick<Platform, 'config'>) {
    this.#maxPerAccount = config.limits.TEXTS_AT_ONCE_PER_ACCOUNT;
  }

  /**
   * Call `over` with the presence when the work is done and the answer has left.
   *
   * @throws GatewayError `unavailable`: the process ends; `rate_limit_exceeded`: the account has as many as it may.
   */
  begin(accountId: string): CallerPresence {
    if (this.#isDraining) throw shuttingDown();
    const running = this.#ofAccount.get(accountId) ?? 0;
    if (running >= this.#maxPerAccount)
      throw new GatewayError(
        'rate_limit_exceeded',
        `The account has ${this.#maxPerAccount} text requests that are being answered, which is as many as it may; send this one again when one of them is done.`,
        { retryAfterMs: RETRY_AFTER_MS },
      );
    const caller = new CallerPresence();
    this.#callers.set(caller, accountId);
    this.#ofAccount.set(accountId, running + 1);
    return caller;
  }

  over(caller: CallerPresence): void {
    const accountId = this.#callers.get(caller);
    if (accountId === undefined) return;
    this.#callers.delete(caller);
    const running = (this.#ofAccount.get(accountId) ?? 0) - 1;
    if (running > 0) this.#ofAccount.set(accountId, running);
    else this.#ofAccount.delete(accountId);
    if (this.#callers.size === 0) for (const resolve of this.#whenNone.splice(0)) resolve();
  }

  /**
   * Lets nothing begin any more, and what runs go on for `limitMs`. What still runs then is ended by us: its caller is told so
   * in the shape of its style, and pays for what was delivered. Resolves when all have been told, or do not read it.
   */
  async drain(limitMs: number): Promise<void> {
    this.#isDraining = true;
    await this.#none(limitMs);
    for (const caller of this.#callers.keys()) caller.end(shuttingDown());
    await this.#none(TELLING_MS);
  }

  /** Resolves when the work of all is over. Call it when every connection is closed, before what the work needs is. */
  finish(): Promise<void> {
    return this.#none(ENDING_MS);
  }

  async #none(limitMs: number): Promise<void> {
    if (this.#callers.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      this.#whenNone.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
