import type { ReplyProgress, TextRequest, TextUsage, ToolUses } from '#contracts';
import { logger } from '#platform';
import type { TokenCounter } from '#providers';
import { dueUsage, type HeldTokens } from './due-usage.js';
import { noteFacts } from '../observability/request-facts.js';
import { reportExcess, reportUnpriced, withinBounds } from './reply-bounds.js';
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
  /** What the hold covers, which is charged where usage is unknown. */
  readonly held: HeldTokens;
}

/** What is known of a reply when it is over, however it ended. */
export interface ExchangeEnd {
  /** The usage that the upstream reported, for the whole reply or until it broke. */
  readonly usage: TextUsage | undefined;
  /** What went out, for counting when the usage has no output. */
  readonly produced: string;
  readonly status: TextSettlement['status'];
  /** True: the upstream may have done more than was reported and delivered, because the caller left early. */
  readonly isUnseen?: boolean;
  /** The tools that the gateway ran for it. */
  readonly tools?: ToolUses;
}

/** How a reply ended, its usage apart. */
type ExchangeResult = Omit<TextSettlement, 'usage'>;

/** The money side of a request, for the code that writes the answer. */
export interface Exchange {
  readonly requestId: string;
  /** The usage that the upstream has reported until now. */
  reportedUsage(): TextUsage | undefined;
  /** What the upstream has written and no event has delivered yet. */
  heldBack(): string;
  onOver(whenOver: () => void): void;
  usageOf(reported: TextUsage | undefined, produced: string): Promise<TextUsage>;
  settle(end: ExchangeEnd): void;
}

/** The money side of one request, from its hold to its settlement. */
export class TextExchange implements Exchange {
  readonly #facts: ExchangeFacts;
  readonly #startedAt = performance.now();
  #upstream: { id: string; requestId: string | undefined } | undefined;
  #progress: ReplyProgress | undefined;
  #settled = false;
  #isExcessNoted = false;
  #isUnpricedNoted = false;
  #whenOver: (() => void) | undefined;

  constructor(facts: ExchangeFacts) {
    this.#facts = facts;
  }

  get requestId(): string {
    return this.#facts.hold.requestId;
  }

  /** Notes which upstream replied. */
  repliedBy(id: string, requestId: string | undefined): void {
    this.#upstream = { id, requestId };
    noteFacts(this.requestId, { upstream: id });
    log.debug('text.routed', { requestId: this.requestId, upstream: id, upstreamRequestId: requestId });
  }

  /** Notes that an upstream has begun to reply; the last one counts. */
  follow(progress: ReplyProgress): void {
    this.#progress = progress;
  }

  /** The usage that the upstream has reported until now. */
  reportedUsage(): TextUsage | undefined {
    return this.#progress?.reportedUsage();
  }

  heldBack(): string {
    return this.#progress?.heldBack?.() ?? '';
  }

  /** Calls `whenOver` when the request is settled; at once when it is. */
  onOver(whenOver: () => void): void {
    if (this.#settled) whenOver();
    else this.#whenOver = whenOver;
  }

  /**
   * What a reply used: what its upstream reported, or a count of ours where it reported nothing. An output of 0 is believed
   * only where nothing went out, an input of 0 never.
   */
  async usageOf(reported: TextUsage | undefined, produced: string): Promise<TextUsage> {
    const usage = this.#possible(reported);
    return usage && isBelieved(usage, produced) ? usage : this.#due({ usage, produced, status: 'completed' });
  }

  /**
   * Charges what was produced, after the answer has gone out; an answer of which nothing was reported and nothing went out is
   * free. Only the first call counts, so that every way out of a request may make it.
   *
   * @param onTried called when the books have changed, or could not be at the first try.
   */
  settle(end: ExchangeEnd, onTried?: () => void): void {
    if (this.#settled) return onTried?.();
    this.#settled = true;
    const { hold, billing, settlements } = this.#facts;
    const { status, tools } = end;
    const usage = this.#possible(end.usage);
    const result: ExchangeResult = {
      status,
      upstream: this.#upstream?.id,
      upstreamRequestId: this.#upstream?.requestId,
      durationMs: Math.round(performance.now() - this.#startedAt),
      ...(tools && { tools }),
    };
    if (isKnown(usage, end)) settlements.add(hold.requestId, settling(billing, hold, charged(usage, result)), onTried);
    else
      settlements.add(
        hold.requestId,
        () => {
          const due = this.#due({ ...end, usage });
          const settlement = due.then((used) => billing.settle(hold, charged(used, result)));
          billing.settling?.(hold, settlement);
          return settlement;
        },
        onTried,
      );
    this.#whenOver?.();
    this.#whenOver = undefined;
  }

  /** What is reported beyond all that a reply can use is not charged; the operator is warned once. */
  #possible(reported: TextUsage | undefined): TextUsage | undefined {
    if (!reported) return undefined;
    if (reported.unpriced && !this.#isUnpricedNoted) {
      this.#isUnpricedNoted = true;
      reportUnpriced({ requestId: this.requestId, upstream: this.#upstream?.id ?? '' }, reported.unpriced);
    }
    const usage = withinBounds(reported, this.#facts.held.bounds);
    if (usage === reported || this.#isExcessNoted) return usage;
    this.#isExcessNoted = true;
    reportExcess({ requestId: this.requestId, upstream: this.#upstream?.id ?? '' }, reported, usage);
    return usage;
  }

  async #due(end: ExchangeEnd): Promise<TextUsage> {
    const { held, request, counter } = this.#facts;
    return dueUsage(end, { held, request, progress: this.#progress, counter: await counter() });
  }
}

/** An empty reply whose input was reported is believed too: reading is work. */
const isBelieved = (reported: TextUsage, produced: string): boolean =>
  reported.inputTokens > 0 && (reported.outputTokens > 0 || produced === '');

/** Nothing need be counted: what was reported is believed, or nothing was done. */
const isKnown = (usage: TextUsage | undefined, { produced, isUnseen }: ExchangeEnd): boolean =>
  isUnseen !== true && (usage ? isBelieved(usage, produced) : produced === '');

/** Nothing used is no charge. */
const charged = (usage: TextUsage | undefined, result: ExchangeResult): TextSettlement => ({
  usage: usage && (usage.outputTokens > 0 || usage.inputTokens > 0) ? usage : undefined,
  ...result,
});

/**
 * Made apart from the exchange, so that a settlement that waits for others holds neither the request nor its prompt:
 * what outlives its request by a few dozen milliseconds is moved by the garbage collector repeatedly.
 */
const settling =
  (billing: TextBilling, hold: TextHold, settlement: TextSettlement): (() => Promise<void>) =>
  () =>
    billing.settle(hold, settlement);
