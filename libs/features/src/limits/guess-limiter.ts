import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '#contracts';
import { logger, lruCache, type RateCounter } from '#platform';
import ipaddr from 'ipaddr.js';

/** How guessing is slowed down. Times in milliseconds. */
export interface GuessLimits {
  /** What is guessed; names the log lines, for example `operator`. */
  readonly subject: string;
  /** Wrong guesses of one address that cost nothing. */
  readonly free: number;
  /** The most guesses of one slowed-down address that wait for their turn; more are refused unread. */
  readonly waitingPerAddress: number;
  /** Wrong guesses of all addresses in a minute after which every address is slowed down that was never right. */
  readonly freeInAll: number;
}

/** How long wrong guesses of an address are remembered after the last of them. */
const REMEMBERED_MS = 15 * 60_000;
/** How long an address is trusted that was right once. */
const TRUSTED_MS = 24 * 3_600_000;
const ADDRESSES_MAX = 50_000;
/** Each further wrong guess costs this much more, up to the longest delay of its stage. */
const STEP_MS = 100;
const STAGES = [
  { guesses: 300, delayMs: 5_000 },
  { guesses: 100, delayMs: 2_000 },
  { guesses: 0, delayMs: 500 },
] as const;
const DELAY_IN_ALL_MS = 1_000;
const WAITING_IN_ALL = 200;
const WINDOW_MS = 60_000;
/** Refusals that are logged one by one in a minute; the others are counted in one line at its end. */
const LINES_PER_WINDOW = 30;

interface Address {
  failures: number;
  waiting: number;
  /** Ends when the guess before has been answered. */
  turn: Promise<void>;
}

export interface Guess {
  /** As Express reports it, so that TRUSTED_PROXIES counts. */
  readonly address: string | undefined;
  readonly requestId?: string;
}

/**
 * Throttles guesses of tokens or keys, by address (IPv6: by /64) and in total. After a few wrong guesses those of an address are
 * checked one at a time, each after a delay; a right one opens then, too. Other addresses do not wait for
 * it. Wrong guesses are shared with the other replicas; the delays are each process's own.
 */
export class GuessLimiter {
  private readonly addresses = lruCache<string, Address>(ADDRESSES_MAX, { ttl: REMEMBERED_MS });
  private readonly trusted = lruCache<string, true>(ADDRESSES_MAX, { ttl: TRUSTED_MS });
  private window = { endsAtMs: 0, failures: 0 };
  private waitingInAll = 0;
  private lines = { written: 0, suppressed: 0 };
  private timer: NodeJS.Timeout | undefined;
  private readonly log = logger('guesses');

  /** @param delay lets so many milliseconds pass before a guess is looked at. */
  constructor(
    private readonly limits: GuessLimits,
    private readonly counter: Pick<RateCounter, 'add'>,
    private readonly delay: (delayMs: number) => Promise<unknown> = (delayMs) =>
      sleep(delayMs, undefined, { ref: false }),
  ) {}

  /** Whether the address has guessed wrong so often that it is slowed down. */
  isSlowed(address: string | undefined): boolean {
    return (this.addresses.get(sourceOf(address))?.failures ?? 0) >= this.limits.free;
  }

  /**
   * Checks a guess when it is next: `open` returns what it opens, null when it is wrong.
   *
   * @param tellsWrong which errors of `open` say that the guess was wrong; others count as neither right nor wrong.
   * @throws GatewayError `rate_limit_exceeded`: too many guesses of the address wait already; it was not looked at.
   * @throws what `open` throws.
   */
  async check<Opened>(
    guess: Guess,
    open: () => Promise<Opened | null> | Opened | null,
    tellsWrong: (error: unknown) => boolean = () => false,
  ): Promise<Opened | null> {
    const source = sourceOf(guess.address);
    const address = this.addresses.get(source);
    const delayMs = Math.max(this.delayOf(address), this.delayInAll(source));
    try {
      const opened = delayMs === 0 ? await open() : await this.inTurn(guess, source, delayMs, open);
      if (opened === null) this.countFailure(guess, source);
      else this.trusted.set(source, true);
      return opened;
    } catch (error) {
      if (tellsWrong(error)) this.countFailure(guess, source);
      throw error;
    }
  }

  /** Writes what was not logged yet. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { suppressed } = this.lines;
    this.lines = { written: 0, suppressed: 0 };
    if (suppressed > 0) this.log.warn(`${this.limits.subject}.more_refused`, { refusals: suppressed });
  }

  private delayOf(address: Address | undefined): number {
    const over = (address?.failures ?? 0) - this.limits.free;
    if (over < 0) return 0;
    const stage = STAGES.find(({ guesses }) => over >= guesses);
    return Math.min((over + 1) * STEP_MS, stage?.delayMs ?? 0);
  }

  private delayInAll(source: string): number {
    const isFull = performance.now() < this.window.endsAtMs && this.window.failures >= this.limits.freeInAll;
    return isFull && !this.trusted.has(source) ? DELAY_IN_ALL_MS : 0;
  }

  private async inTurn<Opened>(
    guess: Guess,
    source: string,
    delayMs: number,
    open: () => Promise<Opened | null> | Opened | null,
  ): Promise<Opened | null> {
    const address = this.addressOf(source);
    if (address.waiting >= this.limits.waitingPerAddress || this.waitingInAll >= WAITING_IN_ALL) {
      this.logRefusal(guess, 'too many guesses at once');
      const message = 'Too many wrong tokens or keys came from this address; wait, then try one at a time.';
      throw new GatewayError('rate_limit_exceeded', message, { retryAfterMs: Math.max(delayMs, 1_000) });
    }
    address.waiting += 1;
    this.waitingInAll += 1;
    const before = address.turn;
    let end = (): void => undefined;
    address.turn = new Promise((resolve) => (end = resolve));
    try {
      await before;
      await this.delay(delayMs);
      return await open();
    } finally {
      address.waiting -= 1;
      this.waitingInAll -= 1;
      end();
    }
  }

  private addressOf(source: string): Address {
    const known = this.addresses.get(source);
    if (known) return known;
    const address = { failures: 0, waiting: 0, turn: Promise.resolve() };
    this.addresses.set(source, address);
    return address;
  }

  private countFailure(guess: Guess, source: string): void {
    const now = performance.now();
    if (now >= this.window.endsAtMs) this.window = { endsAtMs: now + WINDOW_MS, failures: 0 };
    this.window.failures += 1;
    const address = this.addressOf(source);
    address.failures += 1;
    this.addresses.set(source, address);
    this.logRefusal(guess, 'wrong');
    this.counter.add(`guesses:${this.limits.subject}:${source}`, 1).then(
      ({ points }) => (address.failures = Math.max(address.failures, points)),
      () => undefined, // The count of this process stands.
    );
  }

  private logRefusal({ address, requestId }: Guess, reason: string): void {
    this.timer ??= setTimeout(() => this.flush(), WINDOW_MS).unref();
    if (this.lines.written >= LINES_PER_WINDOW) {
      this.lines.suppressed += 1;
      return;
    }
    this.lines.written += 1;
    this.log.warn(`${this.limits.subject}.refused`, { requestId, address: address ?? 'unknown', reason });
  }
}

/** The source behind an address: an IPv6 /64 is one source. */
function sourceOf(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join('.');
}
