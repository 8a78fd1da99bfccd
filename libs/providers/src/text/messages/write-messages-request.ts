import {
  type AssistantPart,
  DEFAULT_MAX_TOKENS,
  type FilePart,
  GatewayError,
  type ImagePart,
  isTextType,
  type JsonObject,
  type MediaSource,
  type ModelTraits,
  omitUndefined,
  type OutputFormat,
  REDACTED,
  type ResultPart,
  type ReturnedPart,
  takenEffort,
  type TextRequest,
  type ToolChoice,
  type Turn,
  type UserPart,
} from '#contracts';
import { traitsOf } from '../traits/model-traits.js';
import { nativeHostedTools } from '../upstream/codec-failures.js';
import { describedSchema, objectSchema, SchemaWork } from '../upstream/object-schema.js';
import type { ProtocolOptions } from '../upstream/protocol-codec.js';
import {
  acceptedCallId,
  acceptedUserId,
  argumentsAsObject,
  nonEmpty,
  offeredTools,
  reasoningBudget,
  reasoningEffort,
  takenSampling,
  wantsNoReasoning,
} from '../upstream/request-fields.js';
import { ownSignature } from '../upstream/signatures.js';
import {
  beginningWithUser,
  JSON_IN_WORDS,
  withSystemBehindUser,
  withSystemInFront,
} from '../upstream/system-in-front.js';
import { enforceableSchema } from './output-schema.js';

/** Kept for five minutes, which is what the price book knows. */
const CACHE_CONTROL = { cache_control: { type: 'ephemeral' } };

/** Blocks that cannot carry a mark. */
const UNMARKED = new Set<unknown>(['thinking', 'redacted_thinking']);

/** How many turns of the user are marked: this one, and the one before, whose cache it continues from. */
const MARKED_TURNS = 2;

/**
 * A messages body that says what to keep in the vendor's prompt cache, which without a word keeps nothing: tools and
 * system prompt, which come first, and the conversation so far. The next turn of an agent then pays little for them. Three
 * marks of the four there may be.
 */
function withCacheMarks(body: JsonObject): JsonObject {
  const messages = body['messages'] as readonly JsonObject[];
  const users = messages.flatMap(({ role }, place) => (role === 'user' ? [place] : [])).slice(-MARKED_TURNS);
  return {
    ...body,
    ...markedBeginning(body),
    messages: messages.map((message, place) => (users.includes(place) ? withMarkedEnd(message) : message)),
  };
}

/** Tools stand before the system prompt: a mark on the one covers the other. */
function markedBeginning({ system, tools }: JsonObject): JsonObject {
  if (typeof system === 'string') return { system: [{ type: 'text', text: system, ...CACHE_CONTROL }] };
  return Array.isArray(tools) ? { tools: markLast(tools as readonly JsonObject[]) } : {};
}

const withMarkedEnd = (message: JsonObject): JsonObject => ({
  ...message,
  content: markLast(message['content'] as readonly JsonObject[]),
});

const markLast = (blocks: readonly JsonObject[]): JsonObject[] =>
  blocks.map((block, place) =>
    place === blocks.length - 1 && !UNMARKED.has(block['type']) ? { ...block, ...CACHE_CONTROL } : block,
  );

export function writeMessagesRequest(request: TextRequest, model: string, options: ProtocolOptions): JsonObject {
  const traits = traitsOf(options, 'messages', model);
  const { system, turns } =
    traits.system_messages === 'in_place' ? withSystemBehindUser(request) : withSystemInFront(request);
  const messages = writeTurns(beginningWithUser(turns));
  const thinking = writeThinking(request, messages, traits, options);
  const tools = nonEmpty(writeTools(request, options));
  const schema = enforcedSchema(request.format);
  const body = omitUndefined({
    model,
    max_tokens: request.maxOutputTokens ?? DEFAULT_MAX_TOKENS + (thinking?.tokens ?? 0),
    messages,
    stream: request.stream,
    system: writeSystem(system, request.format),
    // A thinking model takes no sampling of the caller's.
    ...(thinks(thinking?.thinking) ? {} : writeSampling(request, traits)),
    stop_sequences: nonEmpty(request.stopSequences),
    metadata: writeMetadata(request),
    thinking: thinking?.thinking,
    output_config: writeOutput(schema, thinking?.effort),
    tools,
    tool_choice: tools && writeToolChoice(request.toolChoice, request.parallelToolCalls),
  });
  const isAgent = tools !== undefined || messages.length > 1;
  return isAgent && options.marksPromptCache !== false ? withCacheMarks(body) : body;
}

const thinks = (thinking: JsonObject | undefined): boolean => thinking !== undefined && thinking['type'] !== 'disabled';

const writeMetadata = ({ user }: TextRequest): JsonObject | undefined =>
  user === undefined ? undefined : { user_id: acceptedUserId(user) };

function writeOutput(schema: JsonObject | undefined, effort: string | undefined): JsonObject | undefined {
  const written = omitUndefined({ format: schema && { type: 'json_schema', schema }, effort });
  return Object.keys(written).length > 0 ? written : undefined;
}

/** Newer models refuse words for how to sample, or take one of two: what they refuse is a hint, and left out. */
function writeSampling(request: TextRequest, traits: ModelTraits): JsonObject {
  const { temperature, topP: top_p, topK: top_k } = takenSampling(request, traits, undefined);
  if (temperature !== undefined && temperature > 1)
    throw GatewayError.unsupported(
      request.fieldNames?.temperature ?? 'temperature',
      `a temperature over 1 (sent: ${temperature})`,
    );
  return omitUndefined({ temperature, top_p, top_k });
}

function writeSystem(system: readonly string[], format: OutputFormat): string | undefined {
  const lines = [...system, ...formatInWords(format)].filter((line) => line !== '');
  return lines.length > 0 ? lines.join('\n\n') : undefined;
}

const enforcedSchema = (format: OutputFormat): JsonObject | undefined =>
  format.type === 'json-schema' ? enforceableSchema(describedSchema(format)) : undefined;

/** The form of an answer that the interface does not enforce. */
function formatInWords(format: OutputFormat): string[] {
  if (format.type === 'json') return [JSON_IN_WORDS];
  if (format.type === 'text' || enforcedSchema(format)) return [];
  return [`Answer with JSON that matches this schema, and nothing else:\n${JSON.stringify(describedSchema(format))}`];
}

function writeTools(request: TextRequest, options: ProtocolOptions): JsonObject[] {
  const hosted = nativeHostedTools(request.hostedTools, 'messages', options);
  const work = new SchemaWork();
  const functions = offeredTools(request, hosted).map((tool) =>
    omitUndefined({ name: tool.name, description: tool.description, input_schema: objectSchema(tool, work) }),
  );
  return [...functions, ...hosted];
}

function writeToolChoice(choice: ToolChoice, parallel: boolean): JsonObject | undefined {
  const serial = parallel ? {} : { disable_parallel_tool_use: true };
  if (choice.mode === 'none') return { type: 'none' };
  if (choice.mode === 'auto') return parallel ? undefined : { type: 'auto', ...serial };
  const [name] = choice.names;
  return choice.names.length === 1 && name !== undefined
    ? { type: 'tool', name, ...serial }
    : { type: 'any', ...serial };
}

/** Neighbouring turns of a role become one message, with results first, where the interface wants them. */
function writeTurns(turns: readonly Turn[]): JsonObject[] {
  const messages: { role: string; content: JsonObject[] }[] = [];
  for (const turn of turns) {
    const content =
      turn.role === 'assistant'
        ? turn.parts.flatMap(writeAssistantPart)
        : (turn.parts as readonly UserPart[]).filter(isSaid).map(writeUserPart);
    // What is left empty, the interface refuses; without it, its neighbours are one message.
    if (content.length === 0) continue;
    const last = messages.at(-1);
    if (last?.role === turn.role) last.content.push(...content);
    else messages.push({ role: turn.role, content });
  }
  return messages.map(({ role, content }, place) => ({
    role,
    content: role === 'user' ? resultsFirst(content) : place === messages.length - 1 ? begun(content) : content,
  }));
}

/** What the model is to continue from, which may not end in white space. */
function begun(content: readonly JsonObject[]): JsonObject[] {
  const last = content.at(-1);
  const text = last?.['text'];
  if (last?.['type'] !== 'text' || typeof text !== 'string') return [...content];
  return [...content.slice(0, -1), { ...last, text: text.trimEnd() }];
}

function resultsFirst(content: readonly JsonObject[]): JsonObject[] {
  const isResult = (block: JsonObject): boolean => block['type'] === 'tool_result';
  return [...content.filter(isResult), ...content.filter((block) => !isResult(block))];
}

/** The interface takes no text that is empty or blank. */
const isSaid = (part: UserPart): boolean => part.type !== 'text' || /\S/.test(part.text);

const IMAGE_TYPES = /^image\/(jpeg|png|gif|webp)$/;

function writeImage({ source, param = 'image' }: ImagePart): JsonObject {
  if (source.kind === 'url') return { type: 'image', source: { type: 'url', url: source.url } };
  if (!IMAGE_TYPES.test(source.mediaType))
    throw GatewayError.unsupported(param, `an image of the type "${source.mediaType}"`);
  return { type: 'image', source: { type: 'base64', media_type: source.mediaType, data: source.base64 } };
}

function writeDocument({ source, name, param = 'file' }: FilePart): JsonObject {
  return omitUndefined({ type: 'document', source: writeDocumentSource(source, param), title: name });
}

/** Only PDF may be base64 here; texts go as texts. */
function writeDocumentSource(source: MediaSource, param: string): JsonObject {
  if (source.kind === 'url') return { type: 'url', url: source.url };
  const { mediaType, base64 } = source;
  if (mediaType === 'application/pdf') return { type: 'base64', media_type: mediaType, data: base64 };
  if (isTextType(mediaType))
    return { type: 'text', media_type: 'text/plain', data: Buffer.from(base64, 'base64').toString('utf8') };
  throw GatewayError.unsupported(param, `a file of the type "${mediaType}"`);
}

function writePart(part: ReturnedPart): JsonObject {
  if (part.type === 'file') return writeDocument(part);
  return part.type === 'text' ? { type: 'text', text: part.text } : writeImage(part);
}

const writeUserPart = (part: UserPart): JsonObject => (part.type === 'result' ? writeResult(part) : writePart(part));

function writeResult(part: ResultPart): JsonObject {
  return omitUndefined({
    type: 'tool_result',
    tool_use_id: acceptedCallId('messages', part.callId),
    content: part.content.filter(isSaid).map(writePart),
    is_error: part.isError ? true : undefined,
  });
}

function writeAssistantPart(part: AssistantPart): JsonObject[] {
  if (part.type === 'text') return isSaid(part) ? [{ type: 'text', text: part.text }] : [];
  if (part.type === 'call')
    return [
      {
        type: 'tool_use',
        id: acceptedCallId('messages', part.id),
        name: part.name,
        input: argumentsAsObject(part.arguments),
      },
    ];
  const signature = ownSignature('messages', part);
  if (signature === undefined) return [];
  return signature.startsWith(REDACTED)
    ? [{ type: 'redacted_thinking', data: signature.slice(REDACTED.length) }]
    : // Newer models do not show their words, and prove them all the same.
      [{ type: 'thinking', thinking: part.text, signature }];
}

/** The smallest budget the interface accepts. */
const MIN_THINKING_TOKENS = 1_024;

/** What a limit must leave for the answer itself, in tokens. */
const MIN_ANSWER_TOKENS = 1_024;

/** How a model is asked to think, or not to. */
interface Thinking {
  readonly thinking?: JsonObject | undefined;
  readonly effort?: string | undefined;
  /** What it may take of the output, at least. */
  readonly tokens: number;
}

/** Undefined where a request says nothing about it. */
function writeThinking(
  request: TextRequest,
  messages: readonly JsonObject[],
  traits: ModelTraits,
  options: ProtocolOptions,
): Thinking | undefined {
  const tokens = thinkingTokens(request);
  const { reasoning } = request;
  if (tokens === undefined || !reasoning) return unthinking(request, traits, options);
  if (traits.thinking === 'effort')
    return {
      thinking: omitUndefined({ type: 'adaptive', display: shows(request, traits) ? 'summarized' : undefined }),
      effort: reasoningEffort(reasoning, traits),
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

/** Whether thinking is to be read: where its reader asks for it, and where what the model says between two calls is part of it. */
const shows = ({ reasoning, tools }: TextRequest, { text_between_tools: between }: ModelTraits): boolean =>
  reasoning?.visible === true || (between === 'thought' && tools.length > 0);

/** A model that thinks unasked is told when a caller wants none of it, which many others have no field for. */
function unthinking(request: TextRequest, traits: ModelTraits, options: ProtocolOptions): Thinking | undefined {
  const { reasoning, toolChoice } = request;
  if (reasoning && wantsNoReasoning(reasoning)) {
    if (!(options.disablesReasoning ?? traits.thinks_unasked === 'yes')) return undefined;
    if (traits.thinking_off === 'refused') return { effort: takenEffort('none', traits), tokens: 0 };
    return { thinking: { type: traits.thinking_off === 'taken' ? 'disabled' : 'between_tools' }, tokens: 0 };
  }
  const isSilent = traits.thinks_unasked === 'yes' && toolChoice.mode !== 'required' && shows(request, traits);
  return isSilent
    ? { thinking: { type: 'adaptive', display: 'summarized' }, tokens: 2 * MIN_THINKING_TOKENS }
    : undefined;
}

function isUnthoughtCall(messages: readonly JsonObject[]): boolean {
  const last = messages.findLast(({ role }) => role === 'assistant');
  const types = ((last?.['content'] ?? []) as readonly JsonObject[]).map(({ type }) => type);
  return types.includes('tool_use') && types[0] !== 'thinking' && types[0] !== 'redacted_thinking';
}
