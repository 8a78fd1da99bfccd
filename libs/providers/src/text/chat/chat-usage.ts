import type { TextUsage } from '#contracts';
import { reportedUsage, sumOf } from '../upstream/reported-usage.js';

export interface ChatUsage {
  readonly prompt_tokens?: number;
  /** The names that two vendors give to cached tokens. */
  readonly prompt_cache_hit_tokens?: number;
  readonly cached_tokens?: number;
  readonly completion_tokens?: number;
  readonly total_tokens?: number;
  readonly prompt_tokens_details?: {
    readonly cached_tokens?: number;
    readonly cache_write_tokens?: number;
    /** The names that others give to written ones. */
    readonly cache_creation_tokens?: number;
    readonly cache_creation_input_tokens?: number;
    readonly image_tokens?: number;
  } | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number } | null;
}

/** One vendor counts what was reasoned beside what was written, and only its total shows that. */
function outputIn(usage: ChatUsage): unknown {
  const { prompt_tokens: input, completion_tokens: written, total_tokens: total } = usage;
  const reasoned = usage.completion_tokens_details?.reasoning_tokens ?? 0;
  const withReasoning = sumOf(written, reasoned);
  return total !== undefined && total === sumOf(input, withReasoning) ? withReasoning : written;
}

/** Counts the input that was read from a cache or written to one, under every name vendors give to them. */
function cacheTokensIn(usage: ChatUsage): Pick<TextUsage, 'cachedInputTokens' | 'cacheWriteTokens'> {
  const { prompt_cache_hit_tokens: hit, cached_tokens: cached, prompt_tokens_details: details } = usage;
  const { cache_creation_tokens: created, cache_creation_input_tokens: createdInput } = details ?? {};
  return {
    cachedInputTokens: details?.cached_tokens ?? hit ?? cached ?? 0,
    cacheWriteTokens: details?.cache_write_tokens ?? created ?? createdInput ?? 0,
  };
}

/** The usage of a reply; undefined where it is none. */
export function readChatUsage(usage: ChatUsage): TextUsage | undefined {
  return reportedUsage({
    inputTokens: usage.prompt_tokens ?? 0,
    ...cacheTokensIn(usage),
    imageInputTokens: usage.prompt_tokens_details?.image_tokens ?? 0,
    outputTokens: outputIn(usage),
    reasoningTokens: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  });
}
