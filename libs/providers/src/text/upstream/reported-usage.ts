import type { TextUsage } from '#contracts';

type Tokens = Omit<TextUsage, 'source'>;

/** No model reads or writes so much at once: what lies beyond is a mistake and no bill. */
const MOST_TOKENS = 1_000_000_000;

const isCount = (count: unknown): count is number =>
  Number.isSafeInteger(count) && Number(count) >= 0 && Number(count) <= MOST_TOKENS;

const areCounts = (tokens: { readonly [Kind in keyof Tokens]: unknown }): tokens is Tokens =>
  Object.values(tokens).every(isCount);

/** The sum of counts that an upstream reports apart; NaN, which no usage may hold, when one of them is no count. */
export const sumOf = (...counts: readonly unknown[]): number =>
  counts.reduce<number>((sum, count) => (isCount(count) ? sum + count : Number.NaN), 0);

/** Of two reports the later one, but neither its input nor its output less than what was reported before. */
export function atLeast(before: TextUsage | undefined, later: TextUsage | undefined): TextUsage | undefined {
  if (!before || !later) return later ?? before;
  const input = later.inputTokens >= before.inputTokens ? later : before;
  const output = later.outputTokens >= before.outputTokens ? later : before;
  if (input === output) return input;
  const { outputTokens, reasoningTokens } = output;
  return { ...input, outputTokens, reasoningTokens };
}

/**
 * The usage an upstream reports. Undefined when any of its numbers is no count of tokens (missing, a fraction,
 * negative, in quotes, beyond all sense): then the reply is counted here, as if nothing had been reported.
 */
export function reportedUsage(tokens: { readonly [Kind in keyof Tokens]: unknown }): TextUsage | undefined {
  return areCounts(tokens) ? { source: 'upstream', ...tokens } : undefined;
}
