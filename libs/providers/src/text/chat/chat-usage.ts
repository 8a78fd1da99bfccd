import type { TextUsage } from '#contracts';
import {
  besideIn,
  type ChargedUsage,
  countOf,
  countsIn,
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
  readonly completion_tokens?: number | null | undefined;
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

/** The figures that the chat and the responses interface give different names. */
export interface NamedFigures {
  readonly input: ChatUsage['prompt_tokens'];
  readonly read: ChatUsage['prompt_tokens_details'];
  readonly output: ChatUsage['completion_tokens'];
  readonly written: ChatUsage['completion_tokens_details'];
}

type CacheTokens = Pick<TextUsage, 'cachedInputTokens' | 'cacheWriteTokens'>;

/** The first of several names of one count that says anything. */
const firstOf = (...counts: readonly (number | undefined)[]): number => counts.find(Boolean) ?? 0;

/** Counts the input that was read from a cache or written to one, under every name vendors give to them. */
function cacheTokensIn(read: NamedFigures['read'], usage: ChatUsage): CacheTokens {
  const details = read ?? {};
  const { prompt_cache_hit_tokens: hit, cached_tokens: cached } = usage;
  const { cache_creation_tokens: created, cache_creation_input_tokens: createdInput } = details;
  return {
    cachedInputTokens: firstOf(details.cached_tokens, hit, cached, usage.cache_read_input_tokens),
    cacheWriteTokens: firstOf(details.cache_write_tokens, created, createdInput, usage.cache_creation_input_tokens),
  };
}

/** Input holds what was read from a cache or written to one, unless the total shows that they stand beside it. */
function inputIn(
  { input, output }: NamedFigures,
  cache: CacheTokens,
  total: ChatUsage['total_tokens'],
): number | undefined {
  if (input == null) return besideIn(total, output);
  const withCache = sumOf(input, cache.cachedInputTokens, cache.cacheWriteTokens);
  return total === sumOf(withCache, output) ? withCache : input;
}

/** Some vendors count what was reasoned beside what was written: of one the total shows it, of another the total alone. */
function outputIn(
  { output, written }: NamedFigures,
  input: number | undefined,
  total: ChatUsage['total_tokens'],
): Pick<{ [Kind in keyof TextUsage]: unknown }, 'outputTokens' | 'reasoningTokens'> {
  const reasoned = written?.reasoning_tokens;
  if (output == null) return { outputTokens: besideIn(total, input), reasoningTokens: reasoned ?? 0 };
  const beside = sumOf(total) - sumOf(input ?? 0, output);
  const isBeside = beside > 0 && beside === (reasoned ?? beside);
  return isBeside
    ? { outputTokens: sumOf(output, beside), reasoningTokens: beside }
    : { outputTokens: output, reasoningTokens: reasoned ?? 0 };
}

/** The most that one of the names says: where a vendor uses two, they are of the same calls. */
function vendorCallsIn(usage: ChatUsage): { readonly searches: number; readonly others: number } {
  const { server_tool_use: used, server_side_tool_usage_details: details } = usage;
  const searches = Math.max(countsIn(used, SEARCHES), countsIn(details, SEARCHES), countOf(usage.num_search_queries));
  const all = Math.max(countsIn(used, /_requests$/), countOf(usage.num_server_side_tools_used));
  return { searches, others: Math.max(0, all - searches, countOf(usage.num_sources_used)) };
}

/** The usage of a reply; undefined where it is none. */
export const readChatUsage = (usage: ChatUsage): TextUsage | undefined =>
  readNamedUsage(
    {
      input: usage.prompt_tokens,
      read: usage.prompt_tokens_details,
      output: usage.completion_tokens,
      written: usage.completion_tokens_details,
    },
    usage,
  );

/** The same, where four figures have other names; `usage` has the rest. */
export function readNamedUsage(named: NamedFigures, usage: ChatUsage): TextUsage | undefined {
  const { read, written } = named;
  const cache = cacheTokensIn(read, usage);
  const input = inputIn(named, cache, usage.total_tokens);
  const { outputTokens, reasoningTokens } = outputIn(named, input, usage.total_tokens);
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
