import type { TextRequest, TextUsage } from '#contracts';
import { logger } from '#platform';
import type { TokenCounter } from '#providers';
import type { Settlements } from './settlements.js';
import type { TextBilling, TextHold, TextSettlement } from './text-billing.js';

const log = logger('text');

/** What an exchange needs to know to count and to charge. */
export interface ExchangeFacts {
  readonly hold: TextHold;
  readonly billing: TextBilling;
  readonly settlements: Settlements;
  readonly counter: () => Promise<TokenCounter>;
  readonly request: () => TextRequest;
  /** Used when the request cannot be read, which only happens to one that passes through. */
  readonly estimatedInputTokens: number;
}

/** What is known of a reply when it is over, however it ended. */
export interface ExchangeEnd {
  readonly usage: TextUsage | undefined;
  /** What went out, for counting when the usage tells no output. */
  readonly produced: string;
  readonly status: TextSettlement['status'];
}

/** How a reply ended, its usage apart. */
type ExchangeResult = Omit<TextSettlement, 'usage'>;

/** The money side of one request, from its hold to its settlement. */
export class TextExchange {
  readonly #facts: ExchangeFacts;
  readonly #startedAt = performance.now();
  #upstream: { id: string; requestId: string | undefined } | undefined;
  #settled = false;

  constructor(facts: ExchangeFacts) {
    this.#facts = facts;
  }

  get requestId(): string {
    return this.#facts.hold.requestId;
  }

  /** Notes which upstream replied. */
  repliedBy(id: string, requestId: string | undefined): void {
    this.#upstream = { id, requestId };
    log.info('text.routed', { requestId: this.requestId, upstream: id, upstreamRequestId: requestId });
  }

  /**
   * What a reply used: what its upstream told, or a count of ours. Some upstreams tell only their input; a told output
   * of 0 is believed only where nothing went out.
   */
  async usageOf(told: TextUsage | undefined, produced: string): Promise<TextUsage> {
    return told && isBelieved(told, produced) ? told : this.#count(produced);
  }

  async #count(produced: string): Promise<TextUsage> {
    const counter = await this.#facts.counter();
    const { inputTokens, imageTokens } = await this.#countInput(counter);
    return {
      inputTokens,
      cachedInputTokens: 0,
      cacheWriteTokens: 0,
      imageInputTokens: imageTokens,
      outputTokens: counter.count(produced),
      reasoningTokens: 0,
      source: 'counted',
    };
  }

  /**
   * Charges what was produced, after the answer has gone out; a failure and an empty reply are free. Only the first call
   * counts, so that every way out of a request may make it.
   */
  settle({ usage, produced, status }: ExchangeEnd): void {
    if (this.#settled) return;
    this.#settled = true;
    const { hold, billing, settlements } = this.#facts;
    const end: ExchangeResult = {
      status,
      upstream: this.#upstream?.id,
      upstreamRequestId: this.#upstream?.requestId,
      durationMs: Math.round(performance.now() - this.#startedAt),
    };
    const isFree = status === 'failed' || (!usage && produced === '');
    if (isFree || (usage && isBelieved(usage, produced)))
      settlements.add(hold.requestId, settling(billing, hold, charged(isFree ? undefined : usage, end)));
    else
      settlements.add(hold.requestId, async () =>
        billing.settle(hold, charged(await this.usageOf(usage, produced), end)),
      );
  }

  async #countInput(counter: TokenCounter): Promise<{ inputTokens: number; imageTokens: number }> {
    try {
      return await counter.countRequest(this.#facts.request());
    } catch {
      return { inputTokens: this.#facts.estimatedInputTokens, imageTokens: 0 };
    }
  }
}

const isBelieved = (told: TextUsage, produced: string): boolean => told.outputTokens > 0 || produced === '';

/** No output is no charge, whatever went in. */
const charged = (usage: TextUsage | undefined, end: ExchangeResult): TextSettlement => ({
  usage: usage && usage.outputTokens > 0 ? usage : undefined,
  ...end,
});

/**
 * Made apart from the exchange, so that a settlement that waits for others holds neither the request nor its prompt:
 * what outlives its request by a few dozen milliseconds is moved by the collector again and again.
 */
const settling =
  (billing: TextBilling, hold: TextHold, settlement: TextSettlement): (() => Promise<void>) =>
  () =>
    billing.settle(hold, settlement);
