import type { RequestUses, TextUsage } from '#contracts';
import { logger, signals } from '#platform';
import { DEFAULT_MODEL_LIMITS, type ModelLimits } from '#providers';

const log = logger('text');

/** The most tokens that text of one token's estimate can have: no token is shorter than a byte. */
const BYTES_PER_ESTIMATED_TOKEN = 3;

/** Tools that a vendor runs let its model read and write again and again within one reply, but no more often than this. */
const VENDOR_ROUNDS = 100;

/** The most that a reply can have used, in tokens. A vendor that reports more is mistaken, or lies. */
export interface ReplyBounds {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What decides how much a reply can use. */
export interface BoundedRequest {
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
export function reportUnpriced(
  reply: { readonly requestId: string; readonly upstream: string },
  units: NonNullable<TextUsage['unpriced']>,
): void {
  for (const [unit, count] of Object.entries(units))
    signals.unpricedUsage.inc({ upstream: reply.upstream, unit }, count);
  log.info('usage.unpriced', { ...reply, ...units });
}
