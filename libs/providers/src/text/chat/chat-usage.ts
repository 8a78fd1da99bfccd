import type { TextUsage } from '#contracts';
import {
  type ChargedUsage,
  countOf,
  countsIn,
  inputBeside,
  longWritesIn,
  reportedUsage,
  SEARCHES,
  sumOf,
  withCharge,
} from '../upstream/reported-usage.js';

export interface ChatUsage extends ChargedUsage {
  readonly prompt_tokens?: number | null;
  /** The names that two vendors give to cached tokens. */
  readonly prompt_cache_hit_tokens?: number;
  readonly cached_tokens?: number;
  /** Where proxies of one vendor say what was read from its cache and written to it. */
  readonly cache_read_input_tokens?: number;
  readonly cache_creation_input_tokens?: number;
  readonly completion_tokens?: number | undefined;
  readonly total_tokens?: number;
  readonly prompt_tokens_details?: {
    readonly cached_tokens?: number;
    readonly cache_write_tokens?: number;
    /** The names that others give to written ones. */
    readonly cache_creation_tokens?: number;
    readonly cache_creation_input_tokens?: number;
    readonly cache_creation?: unknown;
    readonly image_tokens?: number;
    readonly audio_tokens?: number;
  } | null;
  readonly completion_tokens_details?: {
    readonly reasoning_tokens?: number;
    readonly audio_tokens?: number;
    readonly image_tokens?: number;
  } | null;
  /** Calls of tools that the vendor ran, under the names that vendors give to them. */
  readonly server_tool_use?: unknown;
  readonly server_side_tool_usage_details?: unknown;
  /** Where proxies of one vendor say how long what was written to its cache is kept. */
  readonly cache_creation?: unknown;
  readonly num_server_side_tools_used?: number;
  readonly num_search_queries?: number;
  readonly num_sources_used?: number;
}

type CacheTokens = Pick<TextUsage, 'cachedInputTokens' | 'cacheWriteTokens'>;

/** The first of several names of one count that says anything. */
const named = (...counts: readonly (number | undefined)[]): number => counts.find(Boolean) ?? 0;

/** Counts the input that was read from a cache or written to one, under every name vendors give to them. */
function cacheTokensIn(usage: ChatUsage): CacheTokens {
  const details = usage.prompt_tokens_details ?? {};
  const { prompt_cache_hit_tokens: hit, cached_tokens: cached } = usage;
  const { cache_creation_tokens: created, cache_creation_input_tokens: createdInput } = details;
  return {
    cachedInputTokens: named(details.cached_tokens, hit, cached, usage.cache_read_input_tokens),
    cacheWriteTokens: named(details.cache_write_tokens, created, createdInput, usage.cache_creation_input_tokens),
  };
}

/** Input holds what was read from a cache or written to one, unless the total shows that they stand beside it. */
function inputIn(usage: ChatUsage, cache: CacheTokens): number | undefined {
  const { prompt_tokens: input } = usage;
  if (input == null) return inputBeside(usage.completion_tokens, usage.total_tokens);
  const withCache = sumOf(input, cache.cachedInputTokens, cache.cacheWriteTokens);
  return usage.total_tokens === sumOf(withCache, usage.completion_tokens) ? withCache : input;
}

/** Some vendors count what was reasoned beside what was written: of one the total shows it, of another the total alone. */
function outputIn(
  usage: ChatUsage,
  input: number | undefined,
): Pick<{ [Kind in keyof TextUsage]: unknown }, 'outputTokens' | 'reasoningTokens'> {
  const { completion_tokens: written, total_tokens: total, completion_tokens_details: details } = usage;
  const reasoned = details?.reasoning_tokens;
  const beside = sumOf(total) - sumOf(input ?? 0, written);
  const isBeside = beside > 0 && beside === (reasoned ?? beside);
  return isBeside
    ? { outputTokens: sumOf(written, beside), reasoningTokens: beside }
    : { outputTokens: written, reasoningTokens: reasoned ?? 0 };
}

/** The most that one of the names says: where a vendor uses two, they are of the same calls. */
function vendorCallsIn(usage: ChatUsage): { readonly searches: number; readonly others: number } {
  const { server_tool_use: used, server_side_tool_usage_details: details } = usage;
  const searches = Math.max(countsIn(used, SEARCHES), countsIn(details, SEARCHES), countOf(usage.num_search_queries));
  const all = Math.max(countsIn(used, /_requests$/), countOf(usage.num_server_side_tools_used));
  return { searches, others: Math.max(0, all - searches, countOf(usage.num_sources_used)) };
}

/** The usage of a reply; undefined where it is none. */
export function readChatUsage(usage: ChatUsage): TextUsage | undefined {
  const cache = cacheTokensIn(usage);
  const input = inputIn(usage, cache);
  const { prompt_tokens_details: read, completion_tokens_details: written } = usage;
  const { outputTokens, reasoningTokens } = outputIn(usage, input);
  const calls = vendorCallsIn(usage);
  const reported = reportedUsage(
    {
      inputTokens: input,
      cachedInputTokens: cache.cachedInputTokens,
      cacheWriteTokens: cache.cacheWriteTokens,
      imageInputTokens: read?.image_tokens ?? 0,
      outputTokens,
      reasoningTokens,
    },
    {
      audio_input_token: read?.audio_tokens,
      audio_output_token: written?.audio_tokens,
      image_output_token: written?.image_tokens,
      cache_write_long_token: longWritesIn(read?.cache_creation ?? usage.cache_creation),
      vendor_web_search_call: calls.searches,
      vendor_tool_call: calls.others,
    },
  );
  return withCharge(reported, usage);
}
