import type { JsonObject } from '#contracts';

/** Models of the third generation and later, by the names that the vendor has for them. */
const FROM_THIRD = /gemini-(?:[3-9]|[1-9]\d|.*latest)/i;

/** A model of the generation before that cannot be kept from thinking. */
const ALWAYS_THINKS = /gemini-2\.5-pro/i;

/** Whether a call of the current turn without a proof is refused. */
export const wantsProofs = (model: string): boolean => FROM_THIRD.test(model);

/** The least that a model thinks: nothing, where it can be kept from it. Later models take a level for that, and most refuse 0. */
export function leastThinking(model: string): JsonObject {
  if (FROM_THIRD.test(model)) return { thinkingLevel: 'low' };
  return { thinkingBudget: ALWAYS_THINKS.test(model) ? 128 : 0 };
}
