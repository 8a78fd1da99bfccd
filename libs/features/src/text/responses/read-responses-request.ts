import {
  type AssistantPart,
  type CallPart,
  type FilePart,
  GatewayError,
  type HostedTool,
  type ImagePart,
  isCustomTool,
  isFunctionTool,
  isKnownItem,
  isNamespace,
  isOptionalTool,
  isRemoteMcp,
  ITEM_TYPES,
  namedTools,
  type OutputFormat,
  type ReasoningRequest,
  type ResponsesBlock,
  type ResponsesItem,
  type ResponsesMessage,
  type ResponsesRequest,
  type ResponsesTool,
  type TextPart,
  type TextRequest,
  type ToolChoice,
} from '#contracts';
import { isStepItem, readableItems } from '../hosted-tools/responses-steps.js';
import { asJson, omitNullish } from '../json-object.js';
import { expectOffered } from '../refusals.js';
import { readMediaAddress, stopSequences } from '../request-parts.js';
import { argumentsWith } from '../tool-arguments.js';
import { TurnList } from '../turn-list.js';
import { flatName, flatTools } from './flat-tools.js';
import { nativeMcpTool, responsesOutputLimit, summaryOf } from './native-responses-body.js';

const LOGPROBS = 'message.output_text.logprobs';

/** Reads a checked responses body, whose references are resolved, into the canonical request. */
export function readResponsesRequest(body: ResponsesRequest, model: string, stream: boolean): TextRequest {
  expectNoOdds(body);
  if (body.moderation) throw GatewayError.unsupported('moderation', 'moderation by the vendor');
  const turns = new TurnList('input');
  if (body.instructions) turns.system(body.instructions);
  const items = typeof body.input === 'string' ? [{ role: 'user' as const, content: body.input }] : body.input;
  const read = items.some(isStepItem) ? readableItems(items) : items;
  read.forEach((item, index) => {
    const param = `input[${index}]`;
    if (!isKnownItem(item)) throw GatewayError.unsupported(param, `an item of type "${item.type}"`, ITEM_TYPES);
    readResponsesItem(item, param, turns);
  });
  const { toolChoice, onlyTools } = readToolChoice(body.tool_choice, body.tools ?? []);
  const tools = flatTools(body.tools ?? []).map(({ tool }) => tool);
  return omitNullish<TextRequest>({
    model,
    stream,
    ...turns.conversation(),
    tools: onlyTools ? namedTools(tools, onlyTools) : tools,
    hostedTools: readHostedTools(body),
    toolChoice,
    parallelToolCalls: body.parallel_tool_calls ?? true,
    format: readFormat(body.text),
    reasoning: readReasoning(body.reasoning),
    maxOutputTokens: responsesOutputLimit(body),
    temperature: body.temperature,
    topP: body.top_p,
    stopSequences: stopSequences(body.stop),
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
    user: body.safety_identifier ?? body.user,
  });
}

/** Hardly any vendor of another interface returns them. */
function expectNoOdds({ top_logprobs: odds, include }: ResponsesRequest): void {
  if (odds) throw GatewayError.unsupported('top_logprobs', 'log probabilities');
  if (include?.includes(LOGPROBS)) throw GatewayError.unsupported('include', 'log probabilities');
}

function readHostedTools({ tools, tool_choice: choice }: ResponsesRequest): HostedTool[] {
  return (tools ?? []).flatMap((tool, index) => {
    if (isFunctionTool(tool) || isCustomTool(tool) || isNamespace(tool)) return [];
    const definition = isRemoteMcp(tool) ? nativeMcpTool(tool) : asJson(tool);
    const isOptional = isOptionalTool({ ...definition, type: tool.type }, choice);
    return [{ protocol: 'responses' as const, param: `tools[${index}]`, type: tool.type, isOptional, definition }];
  });
}

interface ReadToolChoice {
  readonly toolChoice: ToolChoice;
  /** Set when the choice narrows the tools without forcing a call. */
  readonly onlyTools?: readonly string[];
}

function readToolChoice(sent: ResponsesRequest['tool_choice'], tools: readonly ResponsesTool[]): ReadToolChoice {
  if (sent === null || sent === undefined || sent === 'auto') return { toolChoice: { mode: 'auto' } };
  if (sent === 'none') return { toolChoice: { mode: 'none' } };
  if (sent === 'required') return { toolChoice: { mode: 'required', names: [] } };
  if (sent.type === 'function') {
    const { name, namespace } = 'function' in sent ? sent.function : sent;
    return { toolChoice: { mode: 'required', names: [flatName(namespace, name)] } };
  }
  if (sent.type === 'custom') return { toolChoice: { mode: 'required', names: [flatName(sent.namespace, sent.name)] } };
  if (sent.type !== 'allowed_tools') throw GatewayError.unsupported('tool_choice', 'the choice of a hosted tool');
  const names = allowedNames(sent.tools, tools);
  if (sent.mode !== 'required') return { toolChoice: { mode: 'auto' }, onlyTools: names };
  if (names.length > 0) return { toolChoice: { mode: 'required', names } };
  expectOffered(sent.tools, tools);
  // Where none that is left may be called, none must be.
  return { toolChoice: { mode: 'none' } };
}

interface AllowedTool {
  readonly type?: string;
  readonly name?: string;
  readonly namespace?: string | null;
}

/** The names of what the entries of `allowed_tools` allow: a tool, all of a namespace, or nothing known. Each once, however often it is said. */
function allowedNames(allowed: readonly AllowedTool[], tools: readonly ResponsesTool[]): readonly string[] {
  const names = new Set<string>();
  const namespaces = new Set<string>();
  for (const { type, name, namespace } of allowed)
    if (name !== undefined && type === 'namespace') namespaces.add(name);
    else if (name !== undefined) names.add(flatName(namespace, name));
  if (namespaces.size > 0)
    for (const { tool, origin } of flatTools(tools))
      if (origin.namespace !== undefined && namespaces.has(origin.namespace)) names.add(tool.name);
  return [...names];
}

function readFormat(text: ResponsesRequest['text']): OutputFormat {
  const format = text?.format;
  if (format?.type === 'json_schema')
    return omitNullish<OutputFormat>({
      type: 'json-schema',
      name: format.name,
      description: format.description,
      schema: format.schema,
      strict: format.strict,
    });
  return { type: format?.type === 'json_object' ? 'json' : 'text' };
}

function readReasoning(sent: ResponsesRequest['reasoning']): ReasoningRequest | undefined {
  if (!sent) return undefined;
  if ((sent.mode ?? 'standard') !== 'standard')
    throw GatewayError.unsupported('reasoning.mode', 'this mode of reasoning');
  const visible = (sent.summary ?? sent.generate_summary) != null;
  return sent.effort ? { effort: sent.effort, visible } : { visible };
}

/** Adds one item of `input` to the conversation. */
function readResponsesItem(item: ResponsesItem, param: string, turns: TurnList): void {
  switch (item.type) {
    case 'function_call':
      turns.assistant([callOf(item, item.arguments)]);
      break;
    case 'custom_tool_call':
      turns.assistant([callOf(item, turns.arguments.written(argumentsWith(item.input)))]);
      break;
    case 'function_call_output':
    case 'custom_tool_call_output':
      turns.result(
        { callId: item.call_id, content: readBlocks(item.output, `${param}.output`), isError: false },
        `${param}.call_id`,
      );
      break;
    case 'reasoning': {
      const text = (item.summary ?? []).map((part) => part.text).join('\n\n');
      const signature = item.encrypted_content;
      if (text !== '' || signature) turns.assistant([omitNullish({ type: 'reasoning' as const, text, signature })]);
      break;
    }
    case 'compaction': {
      const summary = summaryOf(item);
      if (summary === undefined) throw GatewayError.unsupported(param, 'a compaction that only its vendor can read');
      turns.user([asText(summary)]);
      break;
    }
    case 'item_reference':
      throw GatewayError.unsupported(param, 'a reference to an item that is not stored here');
    default:
      readMessage(item, param, turns);
  }
}

const callOf = (
  { call_id: id, namespace, name }: { call_id: string; namespace?: string | null; name: string },
  json: string,
): CallPart => ({ type: 'call', id, name: flatName(namespace, name), arguments: json });

function readMessage(item: ResponsesMessage, param: string, turns: TurnList): void {
  const content = item.content ?? '';
  switch (item.role) {
    case 'user':
      turns.user(readBlocks(content, `${param}.content`));
      break;
    case 'assistant':
      turns.assistant([...readAssistantText(content, `${param}.content`), ...readNestedCalls(item)]);
      break;
    case 'tool':
      turns.result(
        { callId: item.tool_call_id ?? '', content: readBlocks(content, `${param}.content`), isError: false },
        `${param}.tool_call_id`,
      );
      break;
    default:
      turns.system(readPlainText(content, `${param}.content`));
  }
}

function readNestedCalls(item: ResponsesMessage): CallPart[] {
  return (item.tool_calls ?? []).map((call) => ({
    type: 'call',
    id: call.id,
    name: call.function.name,
    arguments: call.function.arguments,
  }));
}

type Content = string | readonly ResponsesBlock[];

const asText = (text: string): TextPart => ({ type: 'text', text });

function readBlocks(content: Content, param: string): (TextPart | ImagePart | FilePart)[] {
  if (typeof content === 'string') return [asText(content)];
  return content.map((block, index) => readBlock(block, `${param}[${index}]`));
}

function readBlock(block: ResponsesBlock, param: string): TextPart | ImagePart | FilePart {
  switch (block.type) {
    case 'input_image': {
      if (block.image_url == null) throw GatewayError.unsupported(`${param}.file_id`, 'an uploaded file');
      const address = typeof block.image_url === 'string' ? block.image_url : block.image_url.url;
      const detail = block.detail === 'original' ? 'high' : block.detail;
      return omitNullish<ImagePart>({ type: 'image', source: readMediaAddress(address), detail, param });
    }
    case 'input_file': {
      if (block.file_id) throw GatewayError.unsupported(`${param}.file_id`, 'an uploaded file');
      const source = readMediaAddress(block.file_url ?? block.file_data ?? '');
      return omitNullish<FilePart>({ type: 'file', source, name: block.filename, param });
    }
    case 'refusal':
      return asText(block.refusal);
    case 'input_audio':
      throw GatewayError.unsupported(param, 'audio');
    default:
      return asText(block.text);
  }
}

function readAssistantText(content: Content, param: string): AssistantPart[] {
  if (content === '') return [];
  return readBlocks(content, param).map((part, index) => {
    if (part.type === 'text') return part;
    throw GatewayError.unsupported(`${param}[${index}]`, 'an image or file in an assistant turn');
  });
}

function readPlainText(content: Content, param: string): string {
  return readAssistantText(content, param)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('\n');
}
