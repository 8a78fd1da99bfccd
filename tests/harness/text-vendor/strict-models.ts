import { createHash } from 'node:crypto';
import { brokenContinuation } from './gemini-vendor.js';

/** A value of JSON. */
type Json = string | number | boolean | null | undefined | readonly Json[] | { readonly [name: string]: Json };

interface Message {
  readonly role?: string;
  readonly content?: string | readonly { readonly type?: string; readonly signature?: string }[];
}

/** A body of any protocol, as far as the rules of models look at it. */
interface Body {
  readonly model?: string;
  readonly system?: Json;
  readonly tools?: Json;
  readonly messages?: readonly Message[];
  readonly tool_choice?: string | { readonly type?: string };
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
  readonly max_tokens?: number;
  readonly reasoning_effort?: string;
  readonly reasoning?: { readonly effort?: string };
  readonly thinking?: { readonly type?: string };
  readonly generationConfig?: {
    readonly thinkingConfig?: { readonly thinkingBudget?: number; readonly thinkingLevel?: string };
    readonly presencePenalty?: number;
    readonly frequencyPenalty?: number;
    readonly candidateCount?: number;
    readonly maxOutputTokens?: number;
  };
  readonly continuationToken?: string;
  readonly contents?: readonly {
    readonly role?: string;
    readonly parts?: readonly { readonly functionCall?: object; readonly thoughtSignature?: string }[];
  }[];
}

/** Models that refuse to be made to call, and bind their thinking to the conversation. */
const NEWEST_CLAUDE = /^claude-(?:opus|sonnet)-5-5|^claude-(?:fable|mythos)-5-1/;
const BOUND_CLAUDE = /^claude-(?:opus|sonnet|haiku)-5-5|^claude-(?:fable|mythos)-5-1/;

/** Whether a model thinks where it is not asked to. */
export const thinksUnasked = (model = ''): boolean => BOUND_CLAUDE.test(model);

/** The longest reply of the newest models. */
const CLAUDE_MOST = 128_000;
const GEMINI_MOST = 65_536;

function brokenByClaude(body: Body): string | undefined {
  const { model = '', thinking, tool_choice: choice, messages = [] } = body;
  if (/^claude-(?:[a-z]+-)?5/.test(model)) {
    if (thinking?.type === 'enabled')
      return '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort".';
    const sampled = (['temperature', 'top_p', 'top_k'] as const).find((name) => body[name] !== undefined);
    if (sampled) return `\`${sampled}\` is deprecated for this model.`;
  }
  if (NEWEST_CLAUDE.test(model)) {
    if (typeof choice === 'object' && (choice.type === 'any' || choice.type === 'tool'))
      return 'tool_choice: forced tool use is not supported for this model.';
    if (thinking?.type === 'disabled')
      return `"thinking.type.disabled" is not supported for this model.${model.includes('sonnet') ? ' Use "between_tools".' : ''}`;
  }
  if (thinking?.type === 'between_tools' && !model.startsWith('claude-sonnet-5-5'))
    return '"thinking.type.between_tools" is not supported for this model.';
  const broken = brokenBySystem(model, messages);
  return broken ?? (BOUND_CLAUDE.test(model) ? (brokenByLimit(body) ?? brokenByBinding(body)) : undefined);
}

const brokenByLimit = ({ model = '', max_tokens: most = 0 }: Body): string | undefined =>
  most > CLAUDE_MOST
    ? `max_tokens: ${most} > ${CLAUDE_MOST}, which is the maximum allowed number of output tokens for ${model}`
    : undefined;

/** Where newer models take what the system says in the middle, and that older ones do not. */
function brokenBySystem(model: string, messages: readonly Message[]): string | undefined {
  const wrong = messages.findIndex(({ role }, place) => {
    if (role !== 'system') return false;
    const next = messages[place + 1]?.role;
    return messages[place - 1]?.role !== 'user' || (next !== undefined && next !== 'assistant');
  });
  if (wrong >= 0)
    return `messages.${wrong}: role 'system' must follow a 'user' message and precede an 'assistant' message or end the array`;
  const isKnown = BOUND_CLAUDE.test(model) || /^claude-opus-(?:4-[89]|5)/.test(model) || !model.startsWith('claude');
  return !isKnown && messages.some(({ role }) => role === 'system')
    ? "messages: role 'system' is not supported on this model"
    : undefined;
}

/** Thinking comes back behind the very conversation that it was thought in, or not at all. */
function brokenByBinding(body: Body): string | undefined {
  const { messages = [] } = body;
  const wrong = messages.findIndex(
    ({ role, content }, place) =>
      role === 'assistant' &&
      Array.isArray(content) &&
      content.some(({ type, signature }) => type === 'thinking' && signature !== proofOfThinking(body, place)),
  );
  return wrong < 0
    ? undefined
    : `messages.${wrong}.content.0: Invalid \`signature\` in \`thinking\` block: bound to a different conversation. The \`system\` prompt, \`tools\` or an earlier message differs.`;
}

/** What a model signs its thinking with: for those of the newest, bound to all that is said before the message at this place. */
export function proofOfThinking({ model = '', system, tools, messages = [] }: Body, place = messages.length): string {
  if (!BOUND_CLAUDE.test(model)) return 'proof';
  const prefix = JSON.stringify(unmarked([asBlocks(system), tools, messages.slice(0, place) as unknown as Json]));
  return `proof-${createHash('sha256').update(prefix).digest('hex').slice(0, 16)}`;
}

const asBlocks = (text: Json): Json => (typeof text === 'string' ? [{ type: 'text', text }] : text);

/** Without marks of the prompt cache, which mean nothing here. */
function unmarked(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(unmarked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => (name === 'cache_control' ? [] : [[name, unmarked(inner)]])),
  );
}

/** OpenAI's models since the first that reason by default. */
const NEWER_GPT = /^gpt-(?:5\.[6-9]|[6-9])/;

function brokenByGpt(body: Body, effort: string | undefined): string | undefined {
  const { model = '' } = body;
  if (!NEWER_GPT.test(model)) return undefined;
  if (/astra|6\.1-sol/.test(model) && (effort === 'none' || effort === 'minimal'))
    return `Unsupported value: '${effort}' is not supported with the '${model}' model.`;
  const sampled = (['temperature', 'top_p'] as const).find((name) => body[name] !== undefined);
  return sampled && effort !== 'none'
    ? `Unsupported parameter: '${sampled}' is not supported with this model unless the reasoning effort is none.`
    : undefined;
}

function brokenByChatModel(body: Body): string | undefined {
  const { model = '', tools, reasoning_effort: effort } = body;
  if (/^(?:gpt-[5-9]|o\d)/.test(model) && body.max_tokens !== undefined)
    return "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
  if (/^gpt-(?:5\.[4-9]|[6-9])/.test(model) && tools !== undefined && effort !== 'none')
    return `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. Please use /v1/responses instead.`;
  return brokenByGpt(body, effort);
}

/** Calls that are answered now come back with the proof that the first of them had. */
function isCallUnproven({ contents = [] }: Body): boolean {
  const last = contents.findLast(({ role }) => role === 'model')?.parts ?? [];
  const first = last.find(({ functionCall }) => functionCall !== undefined);
  return first !== undefined && first.thoughtSignature === undefined;
}

/** The highest limit of a reply that is not streamed. */
const UNSTREAMED_MOST = 32_768;

function brokenByGeminiModel(
  { model = '', generationConfig: config = {}, ...body }: Body,
  stream: boolean,
): string | undefined {
  if (/^gemini-[3-9]/.test(model) && isCallUnproven(body))
    return 'Function call is missing a thought_signature in functionCall parts.';
  if (!/^gemini-[4-9]/.test(model)) return undefined;
  const { thinkingBudget, thinkingLevel } = config.thinkingConfig ?? {};
  if (thinkingBudget !== undefined) return 'thinking_budget is not supported for this model. Use thinking_level.';
  if (thinkingLevel !== undefined && !/^(?:low|medium|high)$/i.test(thinkingLevel))
    return `thinking_level ${thinkingLevel} is not supported for this model.`;
  if (config.presencePenalty !== undefined || config.frequencyPenalty !== undefined)
    return 'Penalty is not enabled for this model.';
  if ((config.candidateCount ?? 1) > 1) return 'Multiple candidates is not enabled for this model.';
  if ((config.maxOutputTokens ?? 0) > GEMINI_MOST)
    return `max_output_tokens must be in the range from 1 to ${GEMINI_MOST}.`;
  const isLong = !stream && (config.maxOutputTokens ?? 0) > UNSTREAMED_MOST && body.continuationToken === undefined;
  return isLong ? `max_output_tokens must be at most ${UNSTREAMED_MOST} without streaming.` : undefined;
}

/** The sentence with which a vendor refuses what this model of its own does not take; undefined when it takes it. */
export function brokenByModel(
  protocol: 'messages' | 'chat' | 'responses' | 'gemini',
  sent: unknown,
  path: string,
): string | undefined {
  const body = sent as Body;
  if (protocol === 'messages') return brokenByClaude(body);
  if (protocol === 'chat') return brokenByChatModel(body);
  if (protocol === 'responses') return brokenByGpt(body, body.reasoning?.effort);
  const misplaced = brokenContinuation(sent as Parameters<typeof brokenContinuation>[0]);
  if (misplaced) return misplaced;
  const [, model = '', method] = /\/models\/([^:/]+):(\w+)/.exec(path) ?? [];
  return brokenByGeminiModel({ ...body, model }, method === 'streamGenerateContent');
}
