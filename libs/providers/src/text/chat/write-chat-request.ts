import type {
  AssistantPart,
  FilePart,
  ImagePart,
  JsonObject,
  JsonValue,
  OutputFormat,
  ResultPart,
  TextPart,
  TextRequest,
  ToolChoice,
  Turn,
  UserPart,
} from '#contracts';
import { cannotSay, nativeHostedTools } from '../upstream/codec-failures.js';
import { mediaAddress } from '../upstream/media-address.js';
import { nonEmpty, present } from '../upstream/present.js';
import type { ProtocolOptions } from '../upstream/protocol-codec.js';
import { reasoningEffort } from '../upstream/reasoning-budget.js';
import { offeredTools } from '../upstream/offered-tools.js';

/** Writes the canonical request as a chat completions body. Streams always ask for usage. */
export function writeChatRequest(request: TextRequest, model: string, options: ProtocolOptions): JsonObject {
  nativeHostedTools(request.hostedTools, 'chat');
  const effort = request.reasoning ? reasoningEffort(request.reasoning) : undefined;
  const tools = nonEmpty(offeredTools(request));
  return present({
    model,
    messages: writeMessages(request),
    stream: request.stream,
    stream_options: request.stream ? { include_usage: true } : undefined,
    [options.outputLimitField ?? 'max_tokens']: request.maxOutputTokens,
    temperature: request.temperature,
    top_p: request.topP,
    stop: nonEmpty(request.stopSequences),
    seed: request.seed,
    presence_penalty: request.presencePenalty,
    frequency_penalty: request.frequencyPenalty,
    user: request.user,
    reasoning_effort: effort === 'none' ? undefined : effort,
    response_format: writeFormat(request.format),
    tools: tools?.map((tool) => ({ type: 'function', function: present({ ...tool }) })),
    tool_choice: tools && writeToolChoice(request.toolChoice),
    parallel_tool_calls: tools && !request.parallelToolCalls ? false : undefined,
  });
}

function writeMessages(request: TextRequest): JsonObject[] {
  const system = request.system.length > 0 ? [{ role: 'system', content: request.system.join('\n\n') }] : [];
  return [...system, ...request.turns.flatMap(writeTurn)];
}

/** Results are moved to the front of the user turns they stand in: here they must follow their calls at once. */
function writeTurn(turn: Turn, place: number, turns: readonly Turn[]): JsonObject[] {
  if (turn.role === 'assistant') return [writeAssistant(turn.parts)];
  const isFirst = turns[place - 1]?.role !== 'user';
  const results = isFirst ? resultsFrom(turns.slice(place)) : [];
  const content = turn.parts.filter((part) => part.type !== 'result');
  return [
    ...results.map(writeResult),
    // A tool message holds text only, so the pictures of a result follow as a user message.
    ...writeUser(results.flatMap((result) => result.content.filter((part) => part.type === 'image'))),
    ...writeUser(content),
  ];
}

/** Every result of the user turns that these turns begin with. */
function resultsFrom(turns: readonly Turn[]): ResultPart[] {
  const end = turns.findIndex(({ role }) => role === 'assistant');
  const answering = turns.slice(0, end === -1 ? turns.length : end);
  return answering.flatMap<UserPart | AssistantPart>((turn) => turn.parts).filter((part) => part.type === 'result');
}

const writeResult = ({ callId, content }: ResultPart): JsonObject => ({
  role: 'tool',
  tool_call_id: callId,
  content: content.map((part) => (part.type === 'text' ? part.text : '[picture below]')).join('\n'),
});

const writeUser = (parts: readonly UserPart[]): JsonObject[] =>
  parts.length > 0 ? [{ role: 'user', content: writeUserContent(parts) }] : [];

function writeUserContent(parts: readonly UserPart[]): JsonValue {
  const [only] = parts;
  if (parts.length === 1 && only?.type === 'text') return only.text;
  return parts.flatMap((part) => (part.type === 'result' ? [] : [writeUserPart(part)]));
}

function writeUserPart(part: TextPart | ImagePart | FilePart): JsonObject {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'image')
    return { type: 'image_url', image_url: present({ url: mediaAddress(part.source), detail: part.detail }) };
  if (part.source.kind === 'url') throw cannotSay('file', 'a file given by its URL');
  return {
    type: 'file',
    file: present({ filename: part.name ?? 'document.pdf', file_data: mediaAddress(part.source) }),
  };
}

function writeAssistant(parts: readonly AssistantPart[]): JsonObject {
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  const calls = parts.flatMap((part) =>
    part.type === 'call'
      ? [{ id: part.id, type: 'function', function: { name: part.name, arguments: part.arguments } }]
      : [],
  );
  return present({
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    tool_calls: nonEmpty(calls),
  });
}

function writeFormat(format: OutputFormat): JsonObject | undefined {
  if (format.type === 'json') return { type: 'json_object' };
  if (format.type === 'text') return undefined;
  const { name, schema, strict } = format;
  return { type: 'json_schema', json_schema: present({ name, schema, strict }) };
}

function writeToolChoice(choice: ToolChoice): JsonValue {
  if (choice.mode !== 'required') return choice.mode;
  const [name] = choice.names;
  return choice.names.length === 1 && name !== undefined ? { type: 'function', function: { name } } : 'required';
}
