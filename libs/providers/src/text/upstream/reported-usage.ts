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

/** The larger number of each unit of two reports: both are of the whole reply until then. */
function mostOf(one: Unpriced | undefined, other: Unpriced | undefined): Unpriced | undefined {
  if (!one || !other) return one ?? other;
  const units = Object.keys({ ...one, ...other }) as UnpricedUnit[];
  return Object.fromEntries(units.map((unit) => [unit, Math.max(one[unit] ?? 0, other[unit] ?? 0)]));
}

/** The usage with these units beside its own. */
export function withUnpriced(usage: TextUsage, more: Unpriced | undefined): TextUsage {
  const unpriced = mostOf(usage.unpriced, more);
  return unpriced === usage.unpriced || !unpriced ? usage : { ...usage, unpriced };
}

/** Of two reports the later one, but neither its input nor its output less than what was reported before. */
export function atLeast(before: TextUsage | undefined, later: TextUsage | undefined): TextUsage | undefined {
  if (!before || !later) return later ?? before;
  const input = later.inputTokens >= before.inputTokens ? later : before;
  const output = later.outputTokens >= before.outputTokens ? later : before;
  const { outputTokens, reasoningTokens } = output;
  const larger = input === output ? input : { ...input, outputTokens, reasoningTokens };
  return withUnpriced(larger, mostOf(before.unpriced, later.unpriced));
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
