import type { JsonObject, ReasoningEffort, ReasoningRequest, TextRequest } from '#contracts';
import { present } from '../upstream/request-fields.js';
import type { ProtocolOptions } from '../upstream/protocol-codec.js';
import { reasoningBudget, reasoningEffort, wantsNoReasoning } from '../upstream/reasoning-budget.js';
import { type ModelTraits, traitsOf } from './model-traits.js';

/** The smallest budget the interface accepts. */
const MIN_THINKING_TOKENS = 1_024;

/** What a limit must leave for the answer itself, in tokens. */
const MIN_ANSWER_TOKENS = 1_024;

/** How a model is asked to think. */
export interface Thinking {
  readonly thinking: JsonObject;
  readonly effort?: string | undefined;
  /** What it may take of the output, at least. */
  readonly tokens: number;
}

/** Undefined where thinking is not to be asked for. */
export function writeThinking(
  request: TextRequest,
  messages: readonly JsonObject[],
  model: string,
  options: ProtocolOptions,
): Thinking | undefined {
  const tokens = thinkingTokens(request);
  const { reasoning } = request;
  if (tokens === undefined || !reasoning) return undefined;
  const traits = traitsOf(model);
  if ((options.thinking ?? traits.thinking) === 'effort')
    return {
      thinking: present({ type: 'adaptive', display: reasoning.visible ? 'summarized' : undefined }),
      effort: effortOf(reasoning, traits),
      tokens,
    };
  // With a budget, the interface refuses to continue from calls that nothing was thought before.
  return isUnthoughtCall(messages) ? undefined : { thinking: { type: 'enabled', budget_tokens: tokens }, tokens };
}

/** Undefined when the caller did not ask, when its output limit leaves no room, or when a forced call forbids it. */
function thinkingTokens({ reasoning, maxOutputTokens, toolChoice }: TextRequest): number | undefined {
  if (!reasoning || wantsNoReasoning(reasoning) || toolChoice.mode === 'required') return undefined;
  if (!reasoning.visible && reasoning.effort === undefined && reasoning.budgetTokens === undefined) return undefined;
  const wanted = Math.max(MIN_THINKING_TOKENS, reasoningBudget(reasoning) ?? 2 * MIN_THINKING_TOKENS);
  if (maxOutputTokens === undefined) return wanted;
  const room = Math.min(wanted, maxOutputTokens - MIN_ANSWER_TOKENS);
  return room < MIN_THINKING_TOKENS ? undefined : room;
}

/** The interface's words for efforts that others call otherwise. */
const OWN_WORDS: Partial<Record<ReasoningEffort, ReasoningEffort>> = { none: 'low', minimal: 'low' };

function effortOf(reasoning: ReasoningRequest, { hasExtraHigh }: ModelTraits): ReasoningEffort | undefined {
  if (reasoning.effort === 'max') return 'max';
  const effort = reasoningEffort(reasoning);
  if (effort === 'xhigh' && !hasExtraHigh) return 'high';
  return effort && (OWN_WORDS[effort] ?? effort);
}

function isUnthoughtCall(messages: readonly JsonObject[]): boolean {
  const last = messages.findLast(({ role }) => role === 'assistant');
  const types = ((last?.['content'] ?? []) as readonly JsonObject[]).map(({ type }) => type);
  return types.includes('tool_use') && types[0] !== 'thinking' && types[0] !== 'redacted_thinking';
}
