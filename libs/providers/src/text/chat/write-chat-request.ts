import {
  type AssistantPart,
  type CallPart,
  type FilePart,
  type FunctionTool,
  GatewayError,
  type ImagePart,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ModelTraits,
  omitUndefined,
  type OutputFormat,
  type ReasoningEffort,
  type ResultPart,
  takenEffort,
  type TextPart,
  type TextRequest,
  type ToolChoice,
  type Turn,
  type UserPart,
} from '#contracts';
import { JsonTexts } from '#platform';
import {
  acceptedCallId,
  acceptedLabel,
  argumentsAsJson,
  type CallIdRule,
  failedText,
  fileName,
  mapped,
  mediaAddress,
  nonEmpty,
  offeredTools,
  reasoningEffort,
  takenSampling,
  wantsNoReasoning,
} from '../upstream/request-fields.js';
import { nativeHostedTools } from '../upstream/codec-failures.js';
import { currentSchema, objectSchema, SchemaWork, strictness } from '../upstream/object-schema.js';
import { jsonInWords, withSystemInFront } from '../upstream/system-in-front.js';
import { traitsOf } from '../traits/model-traits.js';
import type { ProtocolOptions } from '../upstream/protocol-codec.js';
import { MADE_ELSEWHERE, ownSignature } from '../upstream/signatures.js';
import { accountIn, besideCall, callProofIn, IN_CONTENT, isBehindCall, proofBeside } from './chat-proofs.js';

/** Stands between a result and what the user says next, which must follow something that the model has said. */
const HEARD = { role: 'assistant', content: 'OK.' };

function acceptedMessages(messages: readonly JsonObject[], traits: ModelTraits): readonly JsonObject[] {
  const heard = traits.user_after_result === 'refused' ? heardResults(messages) : messages;
  // Kimi models read the name of the function in their ids.
  const { call_ids: ids } = traits;
  return withMessagesProven(ids === 'any' ? heard : heard.map((message) => withAcceptedIds(message, ids)), traits);
}

/** The messages with a proof at the first call of each turn where the server wants one and it has none; the same where there is none. */
export const withMessagesProven = <Message extends JsonValue>(
  messages: readonly Message[],
  { call_proofs: proofs }: ModelTraits,
): readonly (Message | JsonObject)[] =>
  proofs === 'needed'
    ? mapped<Message | JsonObject>(messages, (message) => (isJsonObject(message) ? withFirstProven(message) : message))
    : messages;

function withFirstProven(message: JsonObject): JsonObject {
  const [first, ...others] = Array.isArray(message['tool_calls'])
    ? (message['tool_calls'] as readonly JsonValue[])
    : [];
  if (!isJsonObject(first) || proofBeside(first['extra_content']) !== undefined) return message;
  const { extra_content: extra } = first;
  const proven = { ...first, extra_content: besideCall(MADE_ELSEWHERE, isJsonObject(extra) ? extra : {}) };
  return { ...message, tool_calls: [proven, ...others] };
}

const heardResults = (messages: readonly JsonObject[]): readonly JsonObject[] =>
  messages.flatMap((message, place) => {
    const followsResult = message['role'] === 'user' && messages[place - 1]?.['role'] === 'tool';
    return followsResult ? [HEARD, message] : [message];
  });

function withAcceptedIds(message: JsonObject, rule: CallIdRule): JsonObject {
  const { tool_calls: calls, tool_call_id: answered } = message;
  if (typeof answered === 'string') return { ...message, tool_call_id: acceptedCallId(rule, answered) };
  if (!Array.isArray(calls)) return message;
  const made = calls as readonly (JsonObject & { readonly id: string })[];
  return { ...message, tool_calls: made.map((call) => ({ ...call, id: acceptedCallId(rule, call.id) })) };
}

/** Writes the canonical request as a chat completions body. Streams always ask for usage. */
export function writeChatRequest(request: TextRequest, model: string, options: ProtocolOptions): JsonObject {
  const hosted = nativeHostedTools(request.hostedTools, 'chat', options);
  const tools = nonEmpty(offeredTools(request, hosted));
  const traits = traitsOf(options, 'chat', model);
  const { output_limit_field: limitField } = traits;
  const effort = writeEffort(request, traits, options);
  return omitUndefined({
    model,
    messages: acceptedMessages(writeMessages(request, traits, options), traits),
    stream: request.stream,
    stream_options: request.stream ? { include_usage: true } : undefined,
    // Not a computed name, which would cost each request more than all other fields together.
    max_tokens: limitField === 'max_tokens' ? request.maxOutputTokens : undefined,
    max_completion_tokens: limitField === 'max_completion_tokens' ? request.maxOutputTokens : undefined,
    ...writeSampling(request, traits, effort),
    stop: nonEmpty(request.stopSequences),
    seed: request.seed,
    user: acceptedLabel(request.user),
    service_tier: request.serviceTier,
    reasoning_effort: effort,
    response_format: writeFormat(request.format),
    tools: tools && writeTools(tools),
    tool_choice: tools && writeToolChoice(request.toolChoice),
    parallel_tool_calls: tools && !request.parallelToolCalls ? false : undefined,
  });
}

function writeSampling(request: TextRequest, traits: ModelTraits, effort: ReasoningEffort | undefined): JsonObject {
  const { temperature, topP: top_p } = takenSampling(request, traits, effort);
  const { presencePenalty: presence_penalty, frequencyPenalty: frequency_penalty } = request;
  const penalties = traits.penalties === 'taken' ? { presence_penalty, frequency_penalty } : {};
  return omitUndefined({ temperature, top_p, ...penalties });
}

function writeTools(tools: readonly FunctionTool[]): JsonObject[] {
  const work = new SchemaWork();
  return tools.map((tool) => {
    const { name, description } = tool;
    const parameters = tool.parameters && objectSchema(tool, work);
    return { type: 'function', function: omitUndefined({ name, description, parameters, strict: strictness(tool) }) };
  });
}

function writeEffort(
  { reasoning, turns }: TextRequest,
  traits: ModelTraits,
  options: ProtocolOptions,
): ReasoningEffort | undefined {
  if (!reasoning) return undefined;
  if (wantsNoReasoning(reasoning)) return options.disablesReasoning ? takenEffort('none', traits) : undefined;
  const sendsOwn = (options.replayedReasoning ?? 'with_calls') === 'with_calls';
  return sendsOwn && hasCallsThoughtElsewhere(turns) ? undefined : reasoningEffort(reasoning, traits);
}

/** Whether another vendor reasoned before calls: when asked to reason, some vendors want reasoning of their own before every call. */
function hasCallsThoughtElsewhere(turns: readonly Turn[]): boolean {
  return turns.some(({ parts }) => {
    const proofs = parts.flatMap((part) => (part.type === 'reasoning' && part.signature !== undefined ? [part] : []));
    const isOwn = proofs.some((part) => ownSignature('chat', part) !== undefined);
    return proofs.length > 0 && !isOwn && parts.some(({ type }) => type === 'call');
  });
}

function writeMessages(request: TextRequest, traits: ModelTraits, options: ProtocolOptions): JsonObject[] {
  const { system, turns } = traits.system_messages === 'in_front' ? withSystemInFront(request) : request;
  const texts = new JsonTexts();
  const messages = turns.flatMap((turn, place, all) =>
    turn.role === 'assistant' ? [writeAssistant(turn.parts, options, texts)] : writeTurnBetween(turn, place, all),
  );
  const said = [...system, ...jsonInWords(request, system)];
  return [...writeSystem(said), ...oneUserMessageEach(messages)];
}

const writeSystem = (texts: readonly string[]): JsonObject[] =>
  texts.length > 0 ? [{ role: 'system', content: texts.join('\n\n') }] : [];

/** Results are moved to the front of the turns between two of the model's: here they must follow their calls at once. */
function writeTurnBetween(
  turn: Exclude<Turn, { role: 'assistant' }>,
  place: number,
  turns: readonly Turn[],
): JsonObject[] {
  const before = turns[place - 1];
  const results = before === undefined || before.role === 'assistant' ? resultsFrom(turns, place) : [];
  return [
    ...results.map(writeResult),
    // A tool message holds text only, so the images and files of a result follow as a user message.
    ...writeUser(results.flatMap((result) => result.content.filter((part) => part.type !== 'text'))),
    ...(turn.role === 'system'
      ? writeSystem(turn.parts.map(({ text }) => text))
      : writeUser(turn.parts.filter((part) => part.type !== 'result'))),
  ];
}

/** Every result of the turns that stand together from this place on. */
function resultsFrom(turns: readonly Turn[], place: number): ResultPart[] {
  let end = place + 1;
  while (end < turns.length && turns[end]?.role !== 'assistant') end += 1;
  return turns
    .slice(place, end)
    .flatMap<UserPart | AssistantPart>((turn) => turn.parts)
    .filter((part) => part.type === 'result');
}

const writeResult = ({ callId, content, isError }: ResultPart): JsonObject => ({
  role: 'tool',
  tool_call_id: callId,
  content: failedText(
    content.map((part) => (part.type === 'text' ? part.text : `[${part.type} below]`)).join('\n'),
    isError,
  ),
});

const writeUser = (parts: readonly UserPart[]): JsonObject[] =>
  parts.length > 0 ? [{ role: 'user', content: writeUserContent(parts) }] : [];

function writeUserContent(parts: readonly UserPart[]): JsonValue {
  const [only] = parts;
  if (only && parts.every((part) => part.type === 'text')) return parts.map((part) => part.text).join('\n\n');
  return parts.flatMap((part) => (part.type === 'result' ? [] : [writeUserPart(part)]));
}

function writeUserPart(part: TextPart | ImagePart | FilePart): JsonObject {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'image')
    return { type: 'image_url', image_url: omitUndefined({ url: mediaAddress(part.source), detail: part.detail }) };
  if (part.source.kind === 'url') throw GatewayError.unsupported(part.param ?? 'file', 'a file given by its URL');
  return {
    type: 'file',
    file: omitUndefined({ filename: fileName(part.name, part.source.mediaType), file_data: mediaAddress(part.source) }),
  };
}

/** Neighbouring user messages become one: the templates of many models refuse two of a role in a row. */
function oneUserMessageEach(messages: readonly JsonObject[]): JsonObject[] {
  const merged: JsonObject[] = [];
  for (let place = 0; place < messages.length;) {
    const end = endOfUserMessages(messages, place);
    const together = messages.slice(place, end);
    if (together.length > 1) merged.push({ role: 'user', content: joined(together.map(({ content }) => content)) });
    else merged.push(...together);
    place = end;
  }
  return merged;
}

/** Where the user's messages from this one on end; behind this one where it is another's. */
function endOfUserMessages(messages: readonly JsonObject[], place: number): number {
  let end = place;
  while (messages[end]?.['role'] === 'user') end += 1;
  return Math.max(end, place + 1);
}

/** Texts stay a text, which servers understand that know no parts. A text in front of the first parts is one part. */
function joined(contents: readonly (JsonValue | undefined)[]): JsonValue {
  const parts = contents.findIndex((content) => typeof content !== 'string');
  const texts = contents.slice(0, parts === -1 ? undefined : parts).filter((content) => typeof content === 'string');
  const text = texts.join('\n\n');
  if (parts === -1) return text;
  return [...(texts.length > 0 ? contentParts(text) : []), ...contents.slice(parts).flatMap(contentParts)];
}

const contentParts = (content: JsonValue | undefined): readonly JsonValue[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : [];

/** The fields in which vendors of this protocol write reasoning. */
const REASONING_FIELDS = ['reasoning_content', 'reasoning'] as const;

/** Some vendors refuse a turn with calls without the reasoning before them; others refuse any reasoning elsewhere. */
function writeReasoning(
  parts: readonly AssistantPart[],
  { replayedReasoning }: ProtocolOptions,
  texts: JsonTexts,
): JsonObject {
  if (replayedReasoning === 'never') return {};
  const reasoning = parts.filter((part) => part.type === 'reasoning');
  if (replayedReasoning === 'always') return { reasoning_content: joinedTexts(reasoning) };
  if (!parts.some(({ type }) => type === 'call')) return {};
  const own = reasoning.map((part) => ({ ...accountIn(ownSignature('chat', part) ?? '', texts), text: part.text }));
  const fields = REASONING_FIELDS.map((name) => [name, joinedTexts(own.filter(({ field }) => field === name))]);
  return omitUndefined({
    ...(Object.fromEntries(fields.filter(([, text]) => text !== '')) as JsonObject),
    reasoning_details: nonEmpty(own.flatMap(({ details }) => details)),
  });
}

const joinedTexts = (parts: readonly { readonly text: string }[]): string =>
  parts.flatMap(({ text }) => (text === '' ? [] : [text])).join('\n\n');

const proofIn = (part: AssistantPart | undefined): string | undefined =>
  part?.type === 'reasoning' ? ownSignature('chat', part) : undefined;

/** The proofs that the vendor put at calls, by their places: one stands in front of its call, or behind it where it came late. */
function callProofs(parts: readonly AssistantPart[]): ReadonlyMap<number, string | undefined> {
  const proofs = new Map<number, string | undefined>();
  let call: number | undefined;
  for (const [place, part] of parts.entries()) {
    const isCall = part.type === 'call';
    const proof = proofIn(isCall ? parts[place - 1] : part);
    if (isCall) {
      const isFirst = call === undefined;
      call = place;
      // What stands in front of the first call belongs to no other.
      if (proof !== undefined && (isFirst || !isBehindCall(proof))) proofs.set(call, callProofIn(proof));
    } else if (call !== undefined && !proofs.has(call) && proof !== undefined && isBehindCall(proof))
      proofs.set(call, callProofIn(proof));
  }
  return proofs;
}

function writeCall({ id, name, arguments: json }: CallPart, proof: string | undefined): JsonObject {
  return omitUndefined({
    id,
    type: 'function',
    function: { name, arguments: argumentsAsJson(json) },
    extra_content: proof === undefined ? undefined : besideCall(proof),
  });
}

/** What was said in a turn: a blank line stands between two messages, and between texts with calls between them. */
function joinedMessages(parts: readonly AssistantPart[]): string {
  let said = '';
  let isCut = false;
  for (const part of parts) {
    isCut ||= part.type === 'call' || (part.type === 'text' && part.isApart === true);
    if (part.type !== 'text' || part.text === '') continue;
    const isJoined = said === '' || said.endsWith('\n') || part.text.startsWith('\n');
    said += isCut && !isJoined ? `\n\n${part.text}` : part.text;
    isCut = false;
  }
  return said;
}

/** The content of a turn whose vendor wrote its thoughts there; undefined for any other. */
function writeThoughts(parts: readonly AssistantPart[]): JsonObject[] | undefined {
  const isOwn = (part: AssistantPart): boolean => proofIn(part) === IN_CONTENT;
  if (!parts.some(isOwn)) return undefined;
  return parts.flatMap((part): JsonObject[] => {
    if (part.type === 'text') return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    if (part.type !== 'reasoning' || !isOwn(part) || part.text === '') return [];
    return [{ type: 'thinking', thinking: [{ type: 'text', text: part.text }] }];
  });
}

function writeAssistant(parts: readonly AssistantPart[], options: ProtocolOptions, texts: JsonTexts): JsonObject {
  const text = joinedMessages(parts);
  const proofs = callProofs(parts);
  const calls = parts.flatMap((part, place) => (part.type === 'call' ? [writeCall(part, proofs.get(place))] : []));
  const thoughtfully = options.replayedReasoning === 'never' ? undefined : writeThoughts(parts);
  return omitUndefined({
    role: 'assistant',
    ...writeReasoning(parts, options, texts),
    content: thoughtfully ?? (text === '' && calls.length > 0 ? null : text),
    tool_calls: nonEmpty(calls),
  });
}

function writeFormat(format: OutputFormat): JsonObject | undefined {
  if (format.type === 'json') return { type: 'json_object' };
  if (format.type === 'text') return undefined;
  const { name, description, strict } = format;
  const schema = currentSchema(format.schema);
  return { type: 'json_schema', json_schema: omitUndefined({ name, description, schema, strict }) };
}

function writeToolChoice(choice: ToolChoice): JsonValue {
  if (choice.mode !== 'required') return choice.mode;
  const [name] = choice.names;
  return choice.names.length === 1 && name !== undefined ? { type: 'function', function: { name } } : 'required';
}
