import type { TextUsage } from '#contracts';

type Tokens = Omit<TextUsage, 'source'>;

const areCounts = (tokens: { readonly [Kind in keyof Tokens]: unknown }): tokens is Tokens =>
  Object.values(tokens).every((count) => Number.isSafeInteger(count) && Number(count) >= 0);

/**
 * The usage an upstream reports. Undefined when any of its numbers is no count of tokens (missing, a fraction,
 * negative, in quotes): then the reply is counted here, as if nothing had been reported.
 */
export function reportedUsage(tokens: { readonly [Kind in keyof Tokens]: unknown }): TextUsage | undefined {
  return areCounts(tokens) ? { source: 'upstream', ...tokens } : undefined;
}
