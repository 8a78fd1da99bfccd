import type { ReplyProgress, TextRequest, TextUsage } from '#contracts';
import type { TokenCounter } from '#providers';
import type { ReplyBounds } from './reply-bounds.js';

/** The tokens a hold covers, and the most that can be used however the reply turns out. */
export interface HeldTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** True: the request refers to files, whose tokens only the upstream can count. */
  readonly hasFiles: boolean;
  readonly bounds: ReplyBounds;
}

/** What is known of a reply that must be counted. */
export interface CountedEnd {
  readonly usage: TextUsage | undefined;
  readonly produced: string;
  readonly isUnseen?: boolean;
}

/** What counting needs. */
export interface CountingFacts {
  readonly held: HeldTokens;
  readonly request: () => TextRequest;
  /** Undefined when no upstream had begun to reply. */
  readonly progress: ReplyProgress | undefined;
  readonly counter: TokenCounter;
}

/**
 * What a reply used whose upstream did not report all of it. What was reported counts; what went out is counted; and of a reply
 * whose caller left, the unknown part is charged as held: the input of files, and an output that may
 * have been reasoned unseen.
 */
export async function dueUsage(end: CountedEnd, facts: CountingFacts): Promise<TextUsage> {
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

async function countedInput({ held, request, counter }: CountingFacts, isUnseen: boolean): Promise<TextUsage> {
  const { inputTokens, imageTokens, source } =
    isUnseen && held.hasFiles
      ? { inputTokens: held.inputTokens, imageTokens: 0, source: 'held' as const }
      : await countRequest(counter, request, held.inputTokens);
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
