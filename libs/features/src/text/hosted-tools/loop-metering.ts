import { NO_USAGE, type TextRequest, type TextUsage, type ToolUnit, type ToolUses, type UnpricedUse } from '#contracts';
import type { ModelLimits, TokenCounter } from '#providers';
import { addLogFields } from '../../observability/request-facts.js';
import { replyBounds } from '../text-metering.js';
import type { TextTariff } from '../../billing/prices/text-tariff.js';
import type { Attribution } from '../../billing/usage/attribution.js';
import type { Settlements } from '../settlements.js';
import { pricedBeside, type TextBilling } from '../text-billing.js';
import { type Metering, type ReplyEnd, TextMetering } from '../text-metering.js';

/** The payer, and the means of payment. */
export interface LoopFacts {
  readonly requestId: string;
  readonly idempotencyKey: string | undefined;
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly priceList?: string | undefined;
  readonly model: string;
  readonly attribution: Attribution | undefined;
  /** False: the caller gets the whole reply, or nothing of it. */
  readonly isStreamed: boolean;
  readonly billing: TextBilling;
  readonly settlements: Settlements;
  readonly counter: () => Promise<TokenCounter>;
}

/** What one round may cost at most. */
export interface RoundOrder {
  readonly request: () => TextRequest;
  readonly inputTokens: number;
  readonly mostInputTokens: number;
  readonly hasFiles: boolean;
  readonly outputTokens: number;
  readonly leastOutputTokens: number;
  readonly limits: ModelLimits;
  /** True: the vendor may do more for it than its model writes. */
  readonly isOpenEnded: boolean;
  readonly tools: ToolUses;
  /** What it asks for beside text. */
  readonly unpriced: readonly UnpricedUse[];
}

/** One time that the model is asked, or the calls before the first time, with money of their own. */
export class Round {
  readonly metering: TextMetering;
  /** The output that the hold covers, in tokens. */
  readonly coveredTokens: number;
  readonly requestId: string;
  /** What it has written until now, for counting. */
  produced = '';
  /** True from when an upstream is asked until it has refused: else nothing can have been done for it. */
  isAsked = false;
  /** What it used; undefined until its reply is over. */
  usage: TextUsage | undefined;
  private readonly counted: Partial<Record<ToolUnit, number>>;

  constructor(metering: TextMetering, coveredTokens: number, uses: ToolUses) {
    this.metering = metering;
    this.requestId = metering.requestId;
    this.coveredTokens = coveredTokens;
    this.counted = { ...uses };
  }

  get uses(): ToolUses {
    return this.counted;
  }

  /** Notes a call that was made. */
  used(unit: ToolUnit): void {
    this.counted[unit] = (this.counted[unit] ?? 0) + 1;
  }
}

/**
 * The money of a request that asks its model several times. Each round is held for before it begins and settled when its
 * tools are done, so that no round begins without cover, and what was used is charged however the request ends. Approved
 * calls, made before the first round, have a bill of their own. The first bill has the id of the request, the others `.2`,
 * `.3` behind it.
 */
export class ToolLoopMetering implements Metering {
  private bills = 0;
  private isAfterFirst = false;
  private round: Round | undefined;
  /** Resolves when what the round before did not use is back in the balance. */
  private isBack: Promise<void> | undefined;
  /** Of the first hold. */
  private tariff: TextTariff | undefined;
  private isOver = false;
  private whenOver: (() => void) | undefined;

  constructor(private readonly facts: LoopFacts) {}

  get requestId(): string {
    return this.facts.requestId;
  }

  /**
   * Holds what the next round may cost.
   *
   * @throws GatewayError as `TextBilling.hold`.
   */
  async open(order: RoundOrder): Promise<Round> {
    const round = await this.hold(order, this.isAfterFirst ? { tool_round: 1 } : {});
    this.isAfterFirst = true;
    return round;
  }

  /**
   * Holds what calls before the first round may cost, and a first round with them; only the calls are charged.
   *
   * @throws GatewayError as `TextBilling.hold`.
   */
  openCalls(order: RoundOrder): Promise<Round> {
    return this.hold(order, {});
  }

  private async hold(order: RoundOrder, uses: ToolUses): Promise<Round> {
    const { requestId, idempotencyKey, accountId, apiKeyId, priceList, model, attribution } = this.facts;
    const { billing, counter, settlements } = this.facts;
    const nth = this.bills + 1;
    await this.isBack;
    const hold = await billing.hold({
      requestId: nth === 1 ? requestId : `${requestId}.${nth}`,
      // Only the first could be another attempt's.
      idempotencyKey: nth === 1 ? idempotencyKey : undefined,
      accountId,
      apiKeyId,
      priceList,
      tariff: this.tariff,
      model,
      inputTokens: order.inputTokens,
      mostInputTokens: order.mostInputTokens,
      outputTokens: order.outputTokens,
      leastOutputTokens: order.leastOutputTokens,
      tools: order.tools,
      attribution,
      contextTokens: order.limits.contextTokens,
      ...pricedBeside(order.unpriced),
    });
    this.tariff ??= hold.tariff;
    const { inputTokens, hasFiles } = order;
    const bounds = replyBounds({ ...order, replies: 1 });
    const held = { inputTokens, outputTokens: hold.outputTokens, hasFiles, bounds };
    const { request } = order;
    const metering = new TextMetering({ hold, request, countable: request, held, billing, counter, settlements });
    this.bills = nth;
    this.round = new Round(metering, hold.outputTokens, uses);
    return this.round;
  }

  /** Notes which upstream replied in the round that is open. */
  repliedBy(...[id, ...more]: Parameters<TextMetering['repliedBy']>): void {
    this.round?.metering.repliedBy(id, ...more);
    // The rounds after the first bill have ids that the log of requests does not know.
    addLogFields(this.requestId, { upstream: id });
  }

  /** Settles the round that is open: its reply is over, and so are its tools. */
  endRound(status: ReplyEnd['status']): void {
    const round = this.round;
    this.round = undefined;
    if (!round) return;
    const { usage, produced, uses: tools } = round;
    this.isBack = new Promise((resolve) => round.metering.settle({ usage, produced, status, tools }, resolve));
  }

  reportedUsage(): TextUsage | undefined {
    return this.round?.metering.reportedUsage();
  }

  heldBack(): string {
    return this.round?.metering.heldBack() ?? '';
  }

  onOver(whenOver: () => void): void {
    if (this.isOver) whenOver();
    else this.whenOver = whenOver;
  }

  /** The loop reports the sum of rounds that were counted already. */
  async usageOf(reported: TextUsage | undefined, produced: string): Promise<TextUsage> {
    return reported ?? (await this.round?.metering.usageOf(reported, produced)) ?? NO_USAGE;
  }

  /**
   * The end of the whole request, and of the round that is open still: it is charged for what it alone used, and free, the calls made in it
   * apart, where it is the round of which a whole reply broke.
   */
  settle(end: ReplyEnd): void {
    if (this.isOver) return;
    this.isOver = true;
    const round = this.round;
    this.round = undefined;
    if (round) round.metering.settle(endOf(round, end, end.status === 'failed' && !this.facts.isStreamed));
    this.whenOver?.();
    this.whenOver = undefined;
  }
}

function endOf(round: Round, end: ReplyEnd, isFree: boolean): ReplyEnd {
  const { status } = end;
  if (round.usage && !isFree) return { usage: round.usage, produced: round.produced, status, tools: round.uses };
  const usage = round.metering.reportedUsage();
  const produced = round.produced + round.metering.heldBack();
  const isNothing = isFree || !round.isAsked || (end.isUnseen !== true && !usage && produced === '');
  if (!isNothing) return { ...end, usage, produced, tools: round.uses };
  // Its model was not asked, or gave no answer: it was no time that the model was asked again.
  const { tool_round: _round, ...tools } = round.uses;
  return { usage: undefined, produced: '', status, tools };
}

const SOURCES = ['upstream', 'counted', 'held'] as const;

/** The usage of several rounds as that of one; it is as sure as the least sure of them. */
export function sumOf(one: TextUsage | undefined, other: TextUsage): TextUsage {
  if (!one) return other;
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
    imageInputTokens: one.imageInputTokens + other.imageInputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
    source: SOURCES[Math.max(SOURCES.indexOf(one.source), SOURCES.indexOf(other.source))] ?? 'counted',
  };
}
