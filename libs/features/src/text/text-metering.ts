import {
  type LastPart,
  NO_USAGE,
  type ReplyProgress,
  type RequestUses,
  type TextCost,
  type TextRequest,
  type TextUsage,
  type ToolUses,
} from '#contracts';
import { logger, signals, type VendorCall } from '#platform';
import { DEFAULT_MODEL_LIMITS, type ModelCosts, type ModelLimits, sumOfCalls, type TokenCounter } from '#providers';
import { addLogFields } from '../observability/request-facts.js';
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
type SettledResult = Omit<TextSettlement, 'usage' | 'cost'>;

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
  private readonly startedAt = performance.now();
  private upstream: { id: string; requestId: string | undefined; costs: ModelCosts | undefined } | undefined;
  private vendorCall: VendorCall | undefined;
  private progress: ReplyProgress | undefined;
  private settled = false;
  private isExcessNoted = false;
  private whenOver: (() => void) | undefined;

  constructor(private readonly facts: MeteringFacts) {}

  get requestId(): string {
    return this.facts.hold.requestId;
  }

  /** Notes which upstream replied, and what the model costs there. */
  repliedBy(id: string, requestId: string | undefined, costs?: ModelCosts, vendorCall?: VendorCall): void {
    this.upstream = { id, requestId, costs };
    this.vendorCall = vendorCall;
    addLogFields(this.requestId, { upstream: id });
    log.debug('text.routed', { requestId: this.requestId, upstream: id, upstreamRequestId: requestId });
  }

  /** Notes that an upstream has begun to reply; the last one counts. */
  follow(progress: ReplyProgress): void {
    this.progress = progress;
  }

  /** The usage that the upstream has reported until now. */
  reportedUsage(): TextUsage | undefined {
    return this.progress?.reportedUsage();
  }

  heldBack(): string {
    return this.progress?.heldBack?.() ?? '';
  }

  /** Calls `whenOver` when the request is settled; at once when it is. */
  onOver(whenOver: () => void): void {
    if (this.settled) whenOver();
    else this.whenOver = whenOver;
  }

  /**
   * What a reply used: what its upstream reported, or a count of ours where it reported nothing. An output of 0 is believed
   * only where nothing went out, an input of 0 never.
   */
  async usageOf(reported: TextUsage | undefined, produced: string): Promise<TextUsage> {
    const usage = this.possible(reported);
    return usage && isBelieved(usage, produced, this.progress?.lastPart?.())
      ? usage
      : this.due({ usage, produced, status: 'completed' });
  }

  /**
   * Charges what was produced, after the answer has gone out; an answer of which nothing was reported and nothing went out is
   * free. Only the first call counts, so that every way out of a request may make it.
   *
   * @param onTried called when the books have changed, or could not be at the first try.
   */
  settle(end: ReplyEnd, onTried?: () => void): void {
    if (this.settled) return onTried?.();
    this.settled = true;
    const { hold, billing, settlements } = this.facts;
    const { status, tools } = end;
    const usage = this.possible(end.usage);
    if (this.progress?.named) this.vendorCall?.named(this.progress.named);
    this.vendorCall?.end(usage, status);
    const result: SettledResult = {
      status,
      upstream: this.upstream?.id,
      upstreamRequestId: this.upstream?.requestId,
      durationMs: Math.round(performance.now() - this.startedAt),
      ...(tools && { tools }),
    };
    const costs = this.upstream?.costs;
    // What was reported of a reply that came to nothing is free for the customer alone.
    const spent = costs && (end.usage ?? this.reportedUsage());
    if (isKnown(usage, end, this.progress?.lastPart?.())) {
      const cost = costs && spent && costs.of(spent, Date.now());
      settlements.add(hold.requestId, settling(billing, hold, charged(usage, result, cost)), onTried);
    } else
      settlements.add(
        hold.requestId,
        () => {
          const due = this.due({ ...end, usage });
          const settlement = due.then((used) => {
            const cost = costs?.of({ ...spent, ...used }, Date.now());
            return billing.settle(hold, charged(used, result, cost));
          });
          billing.settling?.(hold, settlement);
          return settlement;
        },
        onTried,
      );
    this.whenOver?.();
    this.whenOver = undefined;
  }

  /** What is reported beyond all that a reply can use is not charged; the operator is warned once. */
  private possible(reported: TextUsage | undefined): TextUsage | undefined {
    if (!reported) return undefined;
    const usage = withinBounds(reported, this.facts.held.bounds);
    if (usage === reported || this.isExcessNoted) return usage;
    this.isExcessNoted = true;
    reportExcess({ requestId: this.requestId, upstream: this.upstream?.id ?? '' }, reported, usage);
    return usage;
  }

  private async due(end: ReplyEnd): Promise<TextUsage> {
    const { held, request, countable, counter } = this.facts;
    return dueUsage(end, { held, request, countable, progress: this.progress, counter: await counter() });
  }
}

/** An empty reply whose input was reported is believed too: reading is work. Of a reply that was gone on with, the request that does so decides. */
function isBelieved(reported: TextUsage, produced: string, lastPart: LastPart | undefined): boolean {
  const wrote = produced !== '' && (lastPart?.written ?? produced) !== '';
  if (lastPart?.isReported === false) return !wrote;
  const { inputTokens, outputTokens } = reported.calls?.at(-1) ?? reported;
  return inputTokens > 0 && (outputTokens > 0 || !wrote);
}

/** Nothing need be counted: what was reported is believed, or nothing was done. */
const isKnown = (
  usage: TextUsage | undefined,
  { produced, isUnseen }: ReplyEnd,
  lastPart: LastPart | undefined,
): boolean => isUnseen !== true && (usage ? isBelieved(usage, produced, lastPart) : produced === '');

/** Nothing used is no charge. */
const charged = (usage: TextUsage | undefined, result: SettledResult, cost: TextCost | undefined): TextSettlement => ({
  usage: usage && (usage.outputTokens > 0 || usage.inputTokens > 0) ? usage : undefined,
  ...result,
  cost,
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
 * What a reply used whose upstream did not report all of it. Where it took several requests, those before the last are as they were
 * reported, and each of them is charged at the prices of its own input.
 */
async function dueUsage(end: CountedEnd, facts: CountingFacts): Promise<TextUsage> {
  const { usage, isUnseen = false } = end;
  const lastPart = facts.progress?.lastPart?.();
  if (!usage || !lastPart) return dueOfCall(end, facts);
  const calls = usage.calls ?? [usage];
  const before = lastPart.isReported ? calls.slice(0, -1) : calls;
  const reported = lastPart.isReported ? calls.at(-1)! : readAgain(calls.at(-1)!);
  const left = before.reduce((tokens, { outputTokens }) => tokens - outputTokens, facts.held.outputTokens);
  const held = { ...facts.held, outputTokens: Math.max(0, left) };
  const last = await dueOfCall({ usage: reported, produced: lastPart.written, isUnseen }, { ...facts, held });
  return { ...sumOfCalls([...before, last])!, source: last.source };
}

/** What a request reads that goes on with a reply: what the one before it read, and what that wrote. */
const readAgain = ({ inputTokens, outputTokens }: TextUsage): TextUsage => ({
  ...NO_USAGE,
  inputTokens: inputTokens + outputTokens,
});

/**
 * Of one request: what was reported counts; what went out is counted; and of a reply whose caller left, the unknown part is charged as
 * held: the input of files, and an output that may have been reasoned unseen.
 */
async function dueOfCall(end: CountedEnd, facts: CountingFacts): Promise<TextUsage> {
  const reported = end.usage;
  const input = reported && reported.inputTokens > 0 ? reported : await countedInput(facts, end.isUnseen === true);
  const output = await dueOutput(end, facts);
  const isReported = input === reported && output.isReported;
  const isHeld = output.hiddenTokens > 0 || input.source === 'held';
  // Of an input that is counted its parts may be known.
  const { cachedInputTokens, cacheWriteTokens } = reported ?? input;
  return {
    inputTokens: Math.max(input.inputTokens, cachedInputTokens + cacheWriteTokens),
    cachedInputTokens,
    cacheWriteTokens,
    imageInputTokens: input.imageInputTokens,
    outputTokens: output.seenTokens + output.hiddenTokens,
    reasoningTokens: (reported?.reasoningTokens ?? 0) + output.hiddenTokens,
    source: isHeld ? 'held' : isReported ? input.source : 'counted',
    ...beside(reported),
  };
}

/** What is reported of a reply and is no count of its text. */
const beside = ({
  units,
  tier,
}: { readonly units?: TextUsage['units'] | undefined; readonly tier?: TextUsage['tier'] | undefined } = {}): Pick<
  TextUsage,
  'units' | 'tier'
> => ({
  ...(units && { units }),
  ...(tier !== undefined && { tier }),
});

/** An output reported in the middle of a reply grows behind the text; the one reported at its end is final. */
async function dueOutput({ usage: reported, produced, isUnseen = false }: CountedEnd, facts: CountingFacts) {
  const reportedTokens = reported?.outputTokens ?? 0;
  const counted = reportedTokens > 0 && !isUnseen ? 0 : await facts.counter.count(produced);
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
  return { ...NO_USAGE, inputTokens, imageInputTokens: imageTokens, source };
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

/** Nor does it search more often. */
const VENDOR_SEARCHES = 1_000;

/** Tokens of a unit are charged as no more than the whole that they are a part of. */
const possibleUnits = (units: TextUsage['units']): TextUsage['units'] =>
  units?.vendor_web_search_call === undefined
    ? units
    : { ...units, vendor_web_search_call: Math.min(units.vendor_web_search_call, VENDOR_SEARCHES) };

/** The most that one request to a vendor can have used, in tokens. A vendor that reports more is mistaken, or lies. */
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
  unpriced.some(({ kind, isHint, isPriced }) => isHint !== true && (isPriced !== true || kind === 'tools')) ||
  unknownFields.length > 0;

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

/** The usage, each number no larger than it can be, in each of its requests; the very same object where all are possible. */
export function withinBounds(usage: TextUsage, bounds: ReplyBounds): TextUsage {
  if (!usage.calls) return callWithinBounds(usage, bounds);
  const calls = usage.calls.map((call) => withinBounds(call, bounds));
  if (calls.every((call, index) => call === usage.calls?.[index])) return usage;
  return { ...sumOfCalls(calls)!, source: 'held' };
}

function callWithinBounds(usage: TextUsage, bounds: ReplyBounds): TextUsage {
  const isPossible = usage.inputTokens <= bounds.inputTokens && usage.outputTokens <= bounds.outputTokens;
  if (isPossible && (usage.units?.vendor_web_search_call ?? 0) <= VENDOR_SEARCHES) return usage;
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
    ...beside({ ...usage, units: possibleUnits(usage.units) }),
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
