import type { ReplyProgress, RequestUses, TextRequest, TextUsage, ToolUses } from '#contracts';
import { logger, signals } from '#platform';
import { DEFAULT_MODEL_LIMITS, type ModelLimits, type TokenCounter } from '#providers';
import { noteFacts } from '../observability/request-facts.js';
import type { Settlements } from './settlements.js';
import type { TextBilling, TextHold, TextSettlement } from './text-billing.js';

const log = logger('text');

/** What metering needs to know to count and to charge. */
export interface MeteringFacts {
  readonly hold: TextHold;
  readonly billing: TextBilling;
  readonly settlements: Settlements;
  readonly counter: () => Promise<TokenCounter>;
  readonly request: () => TextRequest;
  /** The request for counting its input, also where only its own vendor understands all of it. */
  readonly countable: () => TextRequest;
  /** What the hold covers, which is charged where usage is unknown. */
  readonly held: HeldTokens;
}

/** What is known of a reply when it is over, however it ended. */
export interface ReplyEnd {
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
type SettledResult = Omit<TextSettlement, 'usage'>;

/** The money side of a request, for the code that writes the answer. */
export interface Metering {
  readonly requestId: string;
  /** The usage that the upstream has reported until now. */
  reportedUsage(): TextUsage | undefined;
  /** What the upstream has written and no event has delivered yet. */
  heldBack(): string;
  onOver(whenOver: () => void): void;
  usageOf(reported: TextUsage | undefined, produced: string): Promise<TextUsage>;
  settle(end: ReplyEnd): void;
}

/** The money side of one request, from its hold to its settlement. */
export class TextMetering implements Metering {
  readonly #facts: MeteringFacts;
  readonly #startedAt = performance.now();
  #upstream: { id: string; requestId: string | undefined } | undefined;
  #progress: ReplyProgress | undefined;
  #settled = false;
  #isExcessNoted = false;
  #isUnpricedNoted = false;
  #whenOver: (() => void) | undefined;

  constructor(facts: MeteringFacts) {
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
  settle(end: ReplyEnd, onTried?: () => void): void {
    if (this.#settled) return onTried?.();
    this.#settled = true;
    const { hold, billing, settlements } = this.#facts;
    const { status, tools } = end;
    const usage = this.#possible(end.usage);
    const result: SettledResult = {
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

  async #due(end: ReplyEnd): Promise<TextUsage> {
    const { held, request, countable, counter } = this.#facts;
    return dueUsage(end, { held, request, countable, progress: this.#progress, counter: await counter() });
  }
}

/** An empty reply whose input was reported is believed too: reading is work. */
const isBelieved = (reported: TextUsage, produced: string): boolean =>
  reported.inputTokens > 0 && (reported.outputTokens > 0 || produced === '');

/** Nothing need be counted: what was reported is believed, or nothing was done. */
const isKnown = (usage: TextUsage | undefined, { produced, isUnseen }: ReplyEnd): boolean =>
  isUnseen !== true && (usage ? isBelieved(usage, produced) : produced === '');

/** Nothing used is no charge. */
const charged = (usage: TextUsage | undefined, result: SettledResult): TextSettlement => ({
  usage: usage && (usage.outputTokens > 0 || usage.inputTokens > 0) ? usage : undefined,
  ...result,
});

/**
 * Made apart from the metering, so that a settlement that waits for others holds neither the request nor its prompt:
 * what outlives its request by a few dozen milliseconds is moved by the garbage collector repeatedly.
 */
const settling =
  (billing: TextBilling, hold: TextHold, settlement: TextSettlement): (() => Promise<void>) =>
  () =>
    billing.settle(hold, settlement);

/** The tokens a hold covers, and the most that can be used however the reply turns out. */
export interface HeldTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** True: the request refers to files, whose tokens only the upstream can count. */
  readonly hasFiles: boolean;
  readonly bounds: ReplyBounds;
}

/** What is known of a reply that must be counted. */
interface CountedEnd {
  readonly usage: TextUsage | undefined;
  readonly produced: string;
  readonly isUnseen?: boolean;
}

/** What counting needs. */
interface CountingFacts {
  readonly held: HeldTokens;
  readonly request: () => TextRequest;
  /** The request for counting its input, also where only its own vendor understands all of it. */
  readonly countable: () => TextRequest;
  /** Undefined when no upstream had begun to reply. */
  readonly progress: ReplyProgress | undefined;
  readonly counter: TokenCounter;
}

/**
 * What a reply used whose upstream did not report all of it. What was reported counts; what went out is counted; and of a reply
 * whose caller left, the unknown part is charged as held: the input of files, and an output that may
 * have been reasoned unseen.
 */
async function dueUsage(end: CountedEnd, facts: CountingFacts): Promise<TextUsage> {
  const reported = end.usage;
  const input = reported && reported.inputTokens > 0 ? reported : await countedInput(facts, end.isUnseen === true);
  const output = dueOutput(end, facts);
  const isReported = input === reported && output.isReported;
  const isHeld = output.hiddenTokens > 0 || input.source === 'held';
  return {
    inputTokens: input.inputTokens,
    cachedInputTokens: input.cachedInputTokens,
    cacheWriteTokens: input.cacheWriteTokens,
    imageInputTokens: input.imageInputTokens,
    outputTokens: output.seenTokens + output.hiddenTokens,
    reasoningTokens: (reported?.reasoningTokens ?? 0) + output.hiddenTokens,
    source: isHeld ? 'held' : isReported ? 'upstream' : 'counted',
  };
}

/** An output reported in the middle of a reply grows behind the text; the one reported at its end is final. */
function dueOutput({ usage: reported, produced, isUnseen = false }: CountedEnd, facts: CountingFacts) {
  const counted = facts.counter.count(produced);
  const reportedTokens = reported?.outputTokens ?? 0;
  const seenTokens = isUnseen ? Math.max(reportedTokens, counted) : reportedTokens || counted;
  const isReasoningReported = (reported?.reasoningTokens ?? 0) > 0;
  const unspoken = Math.max(0, facts.held.outputTokens - seenTokens);
  const hiddenTokens = isUnseen && !isReasoningReported ? Math.min(hiddenMost(facts), unspoken) : 0;
  return { seenTokens, hiddenTokens, isReported: seenTokens === reportedTokens };
}

/** The most tokens of reasoning that may have been neither shown nor reported. */
function hiddenMost({ progress, request }: CountingFacts): number {
  if (!progress) return Number.POSITIVE_INFINITY;
  try {
    const { reasoning } = request();
    if (!reasoning) return progress.mayReasonUnasked ? Number.POSITIVE_INFINITY : 0;
    return reasoning.effort === 'none' ? 0 : (reasoning.budgetTokens ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

async function countedInput({ held, countable, counter }: CountingFacts, isUnseen: boolean): Promise<TextUsage> {
  const { inputTokens, imageTokens, source } =
    isUnseen && held.hasFiles
      ? { inputTokens: held.inputTokens, imageTokens: 0, source: 'held' as const }
      : await countRequest(counter, countable, held.inputTokens);
  return {
    inputTokens,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    imageInputTokens: imageTokens,
    outputTokens: 0,
    reasoningTokens: 0,
    source,
  };
}

/** @param otherwise used when the request cannot be read, which only happens to one that passes through. */
async function countRequest(counter: TokenCounter, request: () => TextRequest, otherwise: number) {
  try {
    return { ...(await counter.countRequest(request())), source: 'counted' as const };
  } catch {
    return { inputTokens: otherwise, imageTokens: 0, source: 'counted' as const };
  }
}

/** The most tokens that text of one token's estimate can have: no token is shorter than a byte. */
const BYTES_PER_ESTIMATED_TOKEN = 3;

/** Tools that a vendor runs let its model read and write again and again within one reply, but no more often than this. */
const VENDOR_ROUNDS = 100;

/** The most that a reply can have used, in tokens. A vendor that reports more is mistaken, or lies. */
interface ReplyBounds {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What decides how much a reply can use. */
interface BoundedRequest {
  /** The input that is held for, in tokens. */
  readonly inputTokens: number;
  readonly replies: number;
  readonly limits: ModelLimits;
  /** True: the vendor may run tools of its own, or do what is unknown here. */
  readonly isOpenEnded: boolean;
}

/** True: the vendor may run tools of its own, or do what is unknown here. */
export const isOpenEnded = ({ unpriced, unknownFields }: Pick<RequestUses, 'unpriced' | 'unknownFields'>): boolean =>
  unpriced.some(({ isHint }) => isHint !== true) || unknownFields.length > 0;

/**
 * No model reads or writes more than its context window at once. The window of a model that is not known well is taken as
 * the widest one, so that only reports that are impossible are cut.
 */
export function replyBounds({ inputTokens, replies, limits, isOpenEnded }: BoundedRequest): ReplyBounds {
  const window = Math.max(limits.contextTokens, DEFAULT_MODEL_LIMITS.contextTokens);
  const rounds = isOpenEnded ? VENDOR_ROUNDS : 1;
  return {
    inputTokens: rounds * Math.max(window, inputTokens * BYTES_PER_ESTIMATED_TOKEN),
    outputTokens: rounds * replies * window,
  };
}

/** The usage, each number no larger than it can be; the very same object where both are possible. */
export function withinBounds(usage: TextUsage, bounds: ReplyBounds): TextUsage {
  const isPossible = usage.inputTokens <= bounds.inputTokens && usage.outputTokens <= bounds.outputTokens;
  if (isPossible) return usage;
  const inputTokens = Math.min(usage.inputTokens, bounds.inputTokens);
  const outputTokens = Math.min(usage.outputTokens, bounds.outputTokens);
  return {
    inputTokens,
    cachedInputTokens: Math.min(usage.cachedInputTokens, inputTokens),
    cacheWriteTokens: Math.min(usage.cacheWriteTokens, inputTokens),
    imageInputTokens: Math.min(usage.imageInputTokens, inputTokens),
    outputTokens,
    reasoningTokens: Math.min(usage.reasoningTokens, outputTokens),
    source: 'held',
  };
}

/** Says to the operator which upstream reported more than can be. */
export function reportExcess(
  reply: { readonly requestId: string; readonly upstream: string },
  reported: TextUsage,
  charged: TextUsage,
): void {
  signals.usageBeyondBounds.inc({ upstream: reply.upstream });
  const { inputTokens: inputReported, outputTokens: outputReported } = reported;
  const { inputTokens, outputTokens } = charged;
  log.error('usage.beyond_bounds', { ...reply, inputReported, inputTokens, outputReported, outputTokens });
}

/** Says to the operator what an upstream reported that has no price of its own. */
function reportUnpriced(
  reply: { readonly requestId: string; readonly upstream: string },
  units: NonNullable<TextUsage['unpriced']>,
): void {
  for (const [unit, count] of Object.entries(units))
    signals.unpricedUsage.inc({ upstream: reply.upstream, unit }, count);
  log.info('usage.unpriced', { ...reply, ...units });
}
