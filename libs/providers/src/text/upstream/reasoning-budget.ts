import type { ReasoningEffort, ReasoningRequest } from '#contracts';

/** Tokens to think with, for vendors that want a number instead of a word. */
const BUDGET_TOKENS: Record<ReasoningEffort, number> = {
  none: 0,
  minimal: 1_024,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: 63_999,
};

/** The caller's own budget, or the one its effort stands for; undefined when it asked for neither. */
export function reasoningBudget({ budgetTokens, effort }: ReasoningRequest): number | undefined {
  return budgetTokens ?? (effort === undefined ? undefined : BUDGET_TOKENS[effort]);
}

/** Whether the caller wants no reasoning, by the word or by a budget of nothing. */
export const wantsNoReasoning = ({ budgetTokens, effort }: ReasoningRequest): boolean =>
  effort === 'none' || (effort === undefined && budgetTokens === 0);

/** The word for a budget, for vendors that want one. */
export function reasoningEffort({ budgetTokens, effort }: ReasoningRequest): ReasoningEffort | undefined {
  // One vendor alone has a word beyond the others' strongest.
  if (effort === 'max') return 'xhigh';
  if (effort !== undefined || budgetTokens === undefined) return effort;
  // Most models refuse the levels beyond these, and the caller named none.
  return (['low', 'medium'] as const).find((word) => budgetTokens <= BUDGET_TOKENS[word]) ?? 'high';
}
