import { asksForThinking, type ChatRequest, type ReasoningEffort, type ReasoningRequest } from '#contracts';
import { withoutAbsent } from '../json-object.js';

/** The tokens to think with that the caller names, in the words of any vendor. */
export const namedBudget = ({ reasoning, thinking, thinking_budget: budget }: ChatRequest): number | undefined =>
  [reasoning?.max_tokens, thinking?.type === 'enabled' ? thinking.budget_tokens : undefined, budget].find(
    (tokens) => tokens != null && tokens > 0,
  ) ?? undefined;

function namedEffort({ reasoning_effort: said, reasoning }: ChatRequest): ReasoningEffort | undefined {
  return (said === 'default' ? undefined : said) ?? reasoning?.effort ?? undefined;
}

/** What the templates of open models call the switch. */
const inTemplate = ({ chat_template_kwargs: said }: ChatRequest): unknown =>
  said?.['enable_thinking'] ?? said?.['thinking'];

function isOff(body: ChatRequest): boolean {
  const { reasoning, thinking, enable_thinking: enabled, thinking_budget: budget } = body;
  const switches = [reasoning?.enabled, thinking?.type !== 'disabled', enabled, budget, inTemplate(body)];
  return switches.some((said) => said === false || said === 0);
}

const isOn = (body: ChatRequest): boolean =>
  [body.reasoning_effort, body.reasoning, body.thinking, body.enable_thinking, inTemplate(body)].some(
    (said) => said != null,
  );

/** Reasoning is asked for in the words of several vendors. The reasoning is delivered unless the caller wants it left out. */
export function readReasoningRequest(body: ChatRequest, model: string): ReasoningRequest | undefined {
  const effort = namedEffort(body);
  if (isOff(body)) return { visible: false, ...(effort === 'none' ? { effort } : { budgetTokens: 0 }) };
  const budgetTokens = namedBudget(body);
  const isNamed = effort !== undefined || budgetTokens !== undefined;
  if (!isNamed && !isOn(body) && !asksForThinking(model)) return undefined;
  const visible = effort !== 'none' && body.reasoning?.exclude !== true;
  return withoutAbsent<ReasoningRequest>({ effort, budgetTokens, visible });
}
