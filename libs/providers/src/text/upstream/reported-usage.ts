import { isJsonObject, type TextUsage, type UnpricedUnit } from '#contracts';

type Tokens = Omit<TextUsage, 'source' | 'unpriced'>;
type Unpriced = NonNullable<TextUsage['unpriced']>;

/** No model reads or writes so much at once: what lies beyond is a mistake and no bill. */
const MOST_TOKENS = 1_000_000_000;

const isCount = (count: unknown): count is number =>
  Number.isSafeInteger(count) && Number(count) >= 0 && Number(count) <= MOST_TOKENS;

const areCounts = (tokens: { readonly [Kind in keyof Tokens]: unknown }): tokens is Tokens =>
  Object.values(tokens).every(isCount);

/** The sum of counts that an upstream reports apart; NaN, which no usage may hold, when one of them is no count. */
export const sumOf = (...counts: readonly unknown[]): number =>
  counts.reduce<number>((sum, count) => (isCount(count) ? sum + count : Number.NaN), 0);

/** A count of no price of its own: 0 where it is none, which says nothing about the others. */
export const countOf = (count: unknown): number => (isCount(count) ? count : 0);

/** The sum of the counts that a vendor lists by kinds, of the kinds that match. */
export const countsIn = (listed: unknown, kinds: RegExp): number =>
  isJsonObject(listed)
    ? Object.entries(listed).reduce((sum, [kind, count]) => (kinds.test(kind) ? sum + countOf(count) : sum), 0)
    : 0;

/** Units of what was read, which a later report may take back; of what was written and run there is only more. */
const OF_INPUT: ReadonlySet<string> = new Set<UnpricedUnit>(['audio_input_token', 'long_cache_write_token']);

/** Of each unit of two reports the later word for what was read, else the larger number: both are of the whole reply until then. */
function mostOf(before: Unpriced | undefined, later: Unpriced | undefined): Unpriced | undefined {
  if (!before || !later) return later ?? before;
  const units = Object.keys({ ...before, ...later }) as UnpricedUnit[];
  const numberOf = (unit: UnpricedUnit): number =>
    OF_INPUT.has(unit) ? (later[unit] ?? before[unit] ?? 0) : Math.max(before[unit] ?? 0, later[unit] ?? 0);
  return Object.fromEntries(units.map((unit) => [unit, numberOf(unit)]));
}

/** The usage with these units beside its own. */
export function withUnpriced(usage: TextUsage, more: Unpriced | undefined): TextUsage {
  const unpriced = mostOf(usage.unpriced, more);
  return unpriced === usage.unpriced || !unpriced ? usage : { ...usage, unpriced };
}

/**
 * Of two reports of one reply the later: its input holds also where it is less, since a vendor that says it twice knows it better the
 * second time; its output never falls, since what was written stays written. A later input of 0 says nothing.
 */
export function laterUsage(before: TextUsage | undefined, later: TextUsage | undefined): TextUsage | undefined {
  if (!before || !later) return later ?? before;
  const input = later.inputTokens > 0 ? later : before;
  const output = later.outputTokens >= before.outputTokens ? later : before;
  const { outputTokens, reasoningTokens } = output;
  const unpriced = mostOf(before.unpriced, later.unpriced);
  // No whole is less than a part of it, which the later report may have left out.
  const inputTokens = Math.max(input.inputTokens, input.imageInputTokens + (unpriced?.audio_input_token ?? 0));
  return withUnpriced({ ...input, inputTokens, outputTokens, reasoningTokens }, unpriced);
}

/**
 * The usage an upstream reports. Undefined when any of its numbers is no count of tokens (missing, a fraction,
 * negative, in quotes, beyond all sense): then the reply is counted here, as if nothing had been reported. A whole is never
 * less than its parts, which some vendors count beside it.
 */
export function reportedUsage(
  tokens: { readonly [Kind in keyof Tokens]: unknown },
  units: Readonly<Partial<Record<UnpricedUnit, unknown>>> = {},
): TextUsage | undefined {
  if (!areCounts(tokens)) return undefined;
  const audioInput = countOf(units.audio_input_token);
  const madeOutput = countOf(units.audio_output_token) + countOf(units.image_output_token);
  const { inputTokens, cachedInputTokens, cacheWriteTokens, imageInputTokens, outputTokens, reasoningTokens } = tokens;
  const usage: TextUsage = {
    source: 'upstream',
    ...tokens,
    inputTokens: Math.max(inputTokens, cachedInputTokens + cacheWriteTokens, imageInputTokens + audioInput),
    // None at all beside reasoning is no total: the caller counts what was written.
    outputTokens: outputTokens + madeOutput === 0 ? 0 : Math.max(outputTokens, reasoningTokens + madeOutput),
  };
  const used = Object.entries(units).filter(([, count]) => countOf(count) > 0);
  return used.length === 0 ? usage : { ...usage, unpriced: Object.fromEntries(used) };
}
