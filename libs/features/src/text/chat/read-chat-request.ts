import {
  type ChatFunctionTool,
  type ChatNamedTool,
  type ChatRequest,
  type ChatTool,
  type FunctionTool,
  type HostedTool,
  isChatCustomTool,
  isOptionalTool,
  type OutputFormat,
  type TextRequest,
  type ToolChoice,
} from '#contracts';
import { asJson, withoutAbsent } from '../json-object.js';
import { functionForText } from '../tool-arguments.js';
import { cannotTranslate, expectOffered } from '../refusals.js';
import { stopSequences } from '../request-parts.js';
import { TurnList } from '../turn-list.js';
import { offersLegacyFunctions } from './legacy-functions.js';
import { readChatMessage } from './read-chat-messages.js';
import { readReasoningRequest } from './read-reasoning-request.js';

/** Reads a checked chat completions body into the canonical request. */
export function readChatRequest(body: ChatRequest, model: string, stream: boolean): TextRequest {
  expectTranslatable(body);
  const turns = new TurnList('messages');
  body.messages.forEach((message, index) => readChatMessage(message, `messages[${index}]`, turns));
  const { toolChoice, onlyTools } =
    body.function_call == null
      ? readToolChoice(body.tool_choice, body.tools ?? [])
      : { toolChoice: readLegacyChoice(body.function_call) };
  const tools = [...(body.tools ?? []).flatMap(readFunctionTool), ...(body.functions ?? []).map(readDefinition)];
  return withoutAbsent<TextRequest>({
    model,
    stream,
    ...turns.conversation(),
    tools: onlyTools ? tools.filter((tool) => onlyTools.includes(tool.name)) : tools,
    hostedTools: readOtherTools(body),
    toolChoice,
    // The legacy form of a reply holds one call.
    parallelToolCalls: offersLegacyFunctions(body) ? false : (body.parallel_tool_calls ?? true),
    format: readFormat(body.response_format),
    reasoning: readReasoningRequest(body, model),
    maxOutputTokens: chatOutputLimit(body),
    temperature: body.temperature,
    topP: body.top_p,
    // -1 stands for all of them.
    topK: body.top_k != null && body.top_k > 0 ? body.top_k : undefined,
    stopSequences: stopSequences(body.stop),
    seed: body.seed ?? body.random_seed,
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
    user: body.safety_identifier ?? body.user,
    verbosity: body.verbosity,
    cacheKey: body.prompt_cache_key,
  });
}

/** The most tokens of one reply. */
export const chatOutputLimit = (body: ChatRequest): number | undefined =>
  body.max_completion_tokens ?? body.max_tokens ?? undefined;

/** Forms of the reply, and words in it, that servers of this interface enforce. */
const ENFORCED = [
  'guided_json',
  'guided_regex',
  'guided_choice',
  'guided_grammar',
  'structured_outputs',
  'bad_words',
  'stop_token_ids',
  'min_tokens',
  'ignore_eos',
  'include_stop_str_in_output',
] as const satisfies readonly (keyof ChatRequest)[];

const isSaid =
  (field: keyof ChatRequest) =>
  (body: ChatRequest): boolean =>
    Boolean(body[field]) && !(Array.isArray(body[field]) && body[field].length === 0);

/** What changes the answer, and only an upstream of this protocol can honour. */
const UNTRANSLATABLE: readonly (readonly [
  field: keyof ChatRequest,
  what: string,
  isAsked: (body: ChatRequest) => boolean,
])[] = [
  ['n', 'more than one reply to a request', ({ n }) => (n ?? 1) > 1],
  ['logprobs', 'the probability of each token', ({ logprobs }) => logprobs === true],
  ['top_logprobs', 'the probability of each token', ({ top_logprobs: top }) => (top ?? 0) > 0],
  ['logit_bias', 'logit bias', ({ logit_bias: bias }) => Object.keys(bias ?? {}).length > 0],
  [
    'functions',
    'the legacy form of tools beside them',
    (body) => offersLegacyFunctions(body) && (body.tools ?? []).length > 0,
  ],
  [
    'function_call',
    'the legacy form of tool_choice beside it',
    ({ function_call: legacy, tool_choice: choice }) => legacy != null && choice != null,
  ],
  ['modalities', 'a reply that is not text', ({ modalities }) => (modalities ?? []).some((kind) => kind !== 'text')],
  ['audio', 'a spoken reply', ({ audio }) => audio != null],
  ['prediction', 'a predicted reply', ({ prediction }) => prediction != null],
  ['moderation', 'moderation by the vendor', ({ moderation }) => moderation != null],
  ['web_search_options', 'a search of the web by the vendor', ({ web_search_options: search }) => search != null],
  ...ENFORCED.map((field) => [field, 'what only a server of this interface enforces', isSaid(field)] as const),
];

/** @throws GatewayError `unsupported_parameter` that names the first such field. */
function expectTranslatable(body: ChatRequest): void {
  const asked = UNTRANSLATABLE.find(([, , isAsked]) => isAsked(body));
  if (asked) throw cannotTranslate(asked[0], asked[1]);
}

const isFunction = (tool: ChatTool): tool is ChatFunctionTool => tool.type === 'function';

function readFunctionTool(tool: ChatTool): FunctionTool[] {
  if (isChatCustomTool(tool)) {
    const { name, description, format } = tool.custom;
    const { syntax, definition } = format?.grammar ?? {};
    const grammar = format?.type === 'grammar' ? { syntax, definition: definition ?? '' } : undefined;
    return [functionForText({ name, description, grammar })];
  }
  if (!isFunction(tool)) return [];
  return [readDefinition(tool.function)];
}

const readDefinition = ({ name, description, parameters, strict }: ChatFunctionTool['function']): FunctionTool =>
  withoutAbsent<FunctionTool>({ name, description, parameters, strict });

const readOtherTools = ({ tools, tool_choice: choice }: ChatRequest): HostedTool[] =>
  (tools ?? []).flatMap((tool, index) => {
    if (isFunction(tool) || isChatCustomTool(tool)) return [];
    const { type } = tool;
    const isOptional = isOptionalTool(tool, choice);
    return [{ protocol: 'chat' as const, param: `tools[${index}]`, type, isOptional, definition: asJson(tool) }];
  });

const readLegacyChoice = (sent: NonNullable<ChatRequest['function_call']>): ToolChoice =>
  typeof sent === 'string' ? { mode: sent } : { mode: 'required', names: [sent.name], param: 'function_call' };

interface ReadToolChoice {
  readonly toolChoice: ToolChoice;
  /** Set when the choice narrows the tools without forcing a call. */
  readonly onlyTools?: readonly string[];
}

function readToolChoice(sent: ChatRequest['tool_choice'], offered: readonly ChatTool[]): ReadToolChoice {
  if (sent == null || sent === 'auto') return { toolChoice: { mode: 'auto' } };
  if (sent === 'none') return { toolChoice: { mode: 'none' } };
  if (sent === 'required' || sent === 'any') return { toolChoice: { mode: 'required', names: [] } };
  if (sent.type === 'function' || sent.type === 'custom')
    return { toolChoice: { mode: 'required', names: namesIn(sent) } };
  if (sent.type !== 'allowed_tools')
    throw cannotTranslate('tool_choice', 'the choice of a tool that is not a function');
  const { mode, tools } = sent.allowed_tools;
  const names = tools.flatMap(namesIn);
  if (mode === 'auto') return { toolChoice: { mode }, onlyTools: names };
  if (names.length > 0) return { toolChoice: { mode, names } };
  expectOffered(tools, offered);
  // Where none that is left may be called, none must be.
  return { toolChoice: { mode: 'none' } };
}

/** The name of a tool of the caller's; none of one that the vendor runs. */
function namesIn(tool: ChatNamedTool): readonly string[] {
  if ('function' in tool) return [tool.function.name];
  return 'custom' in tool ? [tool.custom.name] : [];
}

function readFormat(sent: ChatRequest['response_format']): OutputFormat {
  if (sent == null || sent.type === 'text') return { type: 'text' };
  if (sent.type === 'json_object')
    return sent.schema ? { type: 'json-schema', name: 'output', schema: sent.schema } : { type: 'json' };
  if (sent.type !== 'json_schema')
    throw cannotTranslate('response_format', `a format of type "${(sent as { type: string }).type}"`);
  const { name, description, schema, strict } = sent.json_schema;
  if (!schema) return { type: 'json' };
  return withoutAbsent<OutputFormat>({ type: 'json-schema', name, description, schema, strict });
}
