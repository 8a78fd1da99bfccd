import {
  asksForThinking,
  type AssistantPart,
  type CallPart,
  type ChatFunctionTool,
  type ChatMessage,
  type ChatNamedTool,
  type ChatPart,
  type ChatRequest,
  type ChatTool,
  type ChatToolCall,
  type FilePart,
  type FunctionTool,
  GatewayError,
  type HostedTool,
  type ImagePart,
  isChatCustomTool,
  isCustomCall,
  isOptionalTool,
  namedTools,
  type OutputFormat,
  type ReasoningEffort,
  type ReasoningRequest,
  type TextPart,
  type TextRequest,
  type ToolChoice,
} from '#contracts';
import { asJson, omitNullish } from '../json-object.js';
import { expectOffered } from '../refusals.js';
import { readMediaAddress, stopSequences } from '../request-parts.js';
import { argumentsWith, functionForText } from '../tool-arguments.js';
import { TurnList } from '../turn-list.js';
import { withReasoning } from './chat-reasoning.js';

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
  return omitNullish<TextRequest>({
    model,
    stream,
    ...turns.conversation(),
    tools: onlyTools ? namedTools(tools, onlyTools) : tools,
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
  if (asked) throw GatewayError.unsupported(asked[0], asked[1]);
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
  omitNullish<FunctionTool>({ name, description, parameters, strict });

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
    throw GatewayError.unsupported('tool_choice', 'the choice of a tool that is not a function');
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
    throw GatewayError.unsupported('response_format', `a format of type "${(sent as { type: string }).type}"`);
  const { name, description, schema, strict } = sent.json_schema;
  if (!schema) return { type: 'json' };
  return omitNullish<OutputFormat>({ type: 'json-schema', name, description, schema, strict });
}

/** Adds one message to the conversation. */
function readChatMessage(message: ChatMessage, param: string, turns: TurnList): void {
  const content = message.content ?? '';
  switch (message.role) {
    case 'user':
      turns.user(readContent(content, `${param}.content`));
      break;
    case 'assistant':
      turns.assistant(readAssistant(message, param, turns));
      break;
    case 'tool':
      turns.result(
        { callId: message.tool_call_id ?? '', content: readContent(content, `${param}.content`), isError: false },
        `${param}.tool_call_id`,
      );
      break;
    case 'function':
      readLegacyResult(message, param, turns);
      break;
    default:
      turns.system(plainText(content, `${param}.content`));
  }
}

/** It names its function where the newer form has the id of its call. */
function readLegacyResult({ name, content }: ChatMessage, param: string, turns: TurnList): void {
  const returned = readContent(content ?? '', `${param}.content`);
  turns.result({ callId: '', name: name ?? '', content: returned, isError: false }, `${param}.name`);
}

type Content = string | readonly ChatPart[];

const asText = (text: string): TextPart => ({ type: 'text', text });

function readContent(content: Content, param: string): (TextPart | ImagePart | FilePart)[] {
  if (typeof content === 'string') return [asText(content)];
  return content.map((part, index) => readPart(part, `${param}[${index}]`));
}

const PART_TYPES = ['text', 'image_url', 'input_audio', 'file'];

function readPart(part: ChatPart, param: string): TextPart | ImagePart | FilePart {
  switch (part.type) {
    case 'text':
      return asText(part.text);
    case 'refusal':
      return asText(part.refusal);
    case 'image_url': {
      const { url, detail } = part.image_url;
      return omitNullish<ImagePart>({ type: 'image', source: readMediaAddress(url), detail, param });
    }
    case 'input_audio': {
      const { data: base64, format } = part.input_audio;
      return { type: 'file', source: { kind: 'inline', mediaType: `audio/${format}`, base64 }, param };
    }
    case 'file': {
      const { file_data: data, filename } = part.file;
      if (data == null) throw GatewayError.unsupported(`${param}.file.file_id`, 'an uploaded file');
      return omitNullish<FilePart>({ type: 'file', source: readMediaAddress(data), name: filename, param });
    }
    default:
      throw GatewayError.unsupported(param, `a part of type "${(part as { type: string }).type}"`, PART_TYPES);
  }
}

function readAssistant(message: ChatMessage, param: string, turns: TurnList): AssistantPart[] {
  if (message.audio) throw GatewayError.unsupported(`${param}.audio`, 'audio of an earlier turn');
  const { content, refusal } = message;
  const calls = readCalls(message, param, turns);
  const said = [...readSaid(content ?? '', `${param}.content`), ...readSaid(refusal ?? '', `${param}.refusal`)];
  return withReasoning(message, said, calls);
}

function readSaid(content: Content, param: string): TextPart[] {
  return content === '' ? [] : textParts(content, param, 'an image or file in an assistant message');
}

function readCalls(
  { tool_calls: sent, function_call: legacy }: ChatMessage,
  param: string,
  turns: TurnList,
): CallPart[] {
  const calls = (sent ?? []).map((call, index) => readCall(call, `${param}.tool_calls[${index}]`, turns));
  if (!legacy) return calls;
  if (calls.length > 0)
    throw GatewayError.unsupported(`${param}.function_call`, 'the legacy form of tool_calls beside them');
  return [{ type: 'call', id: turns.nextCallId(), name: legacy.name, arguments: legacy.arguments }];
}

function readCall(call: ChatToolCall, param: string, turns: TurnList): CallPart {
  if (isCustomCall(call)) {
    const json = turns.arguments.written(argumentsWith(call.custom.input));
    return { type: 'call', id: call.id, name: call.custom.name, arguments: json };
  }
  if ((call.type ?? 'function') !== 'function') throw GatewayError.unsupported(param, `a call of type "${call.type}"`);
  return { type: 'call', id: call.id, name: call.function.name, arguments: call.function.arguments };
}

function textParts(content: Content, param: string, otherwise: string): TextPart[] {
  return readContent(content, param).map((part, index) => {
    if (part.type === 'text') return part;
    throw GatewayError.unsupported(`${param}[${index}]`, otherwise);
  });
}

const plainText = (content: Content, param: string): string =>
  textParts(content, param, 'an image or file in a system message')
    .map(({ text }) => text)
    .join('\n');

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
function readReasoningRequest(body: ChatRequest, model: string): ReasoningRequest | undefined {
  const effort = namedEffort(body);
  if (isOff(body)) return { visible: false, ...(effort === 'none' ? { effort } : { budgetTokens: 0 }) };
  const budgetTokens = namedBudget(body);
  const isNamed = effort !== undefined || budgetTokens !== undefined;
  if (!isNamed && !isOn(body) && !asksForThinking(model)) return undefined;
  const visible = effort !== 'none' && body.reasoning?.exclude !== true;
  return omitNullish<ReasoningRequest>({ effort, budgetTokens, visible });
}

/** Whether the caller offers functions by `functions`, which `tools` replaced, and reads calls as `function_call` alone. */
export const offersLegacyFunctions = ({ functions }: Pick<ChatRequest, 'functions'>): boolean =>
  (functions ?? []).length > 0;
