import {
  type AssistantPart,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type MediaSource,
  type ModelTraits,
  omitUndefined,
  type OutputFormat,
  type ReasoningRequest,
  type ResultPart,
  serviceTierOf,
  takenEffort,
  type TextRequest,
  type ToolChoice,
  type UserPart,
} from '#contracts';
import { JsonTexts, parsedObject } from '#platform';
import { traitsOf } from '../traits/model-traits.js';
import { nativeHostedTools } from '../upstream/codec-failures.js';
import { currentSchema, describedSchema, objectSchema, SchemaWork } from '../upstream/object-schema.js';
import type { ProtocolOptions } from '../upstream/protocol-codec.js';
import {
  argumentsAsObject,
  mapped,
  nonEmpty,
  offeredTools,
  reasoningBudget,
  reasoningEffort,
  takenSampling,
  wantsNoReasoning,
} from '../upstream/request-fields.js';
import { MADE_ELSEWHERE, ownSignature } from '../upstream/signatures.js';
import { beginningWithUser, withSystemInFront } from '../upstream/system-in-front.js';
import { selfContainedSchema } from './self-contained-schema.js';

/** A number with too many digits to be exact: its text stays as it is. */
const LONG_NUMBER = /[\s:,[-]\d{16}/;

/** The interface takes this field for a reference to a file of the result, and refuses one that leads to none. */
const REFERENCE = /"\$ref"\s*:/;

/** All of them are parsed in one go, so that those beyond it stay texts, which say the same. */
const CHARACTERS_MAX = 4 * 1024 * 1024;

/** What the functions of one conversation returned, where it is an object. */
export class ResultObjects {
  private readonly texts = new JsonTexts();
  private characters = 0;

  /** The object that a result is; undefined where it is another text, or as an object would not be what it was. */
  in(text: string): JsonObject | undefined {
    return parsedObject(text, (json) => {
      this.characters += json.length;
      if (this.characters > CHARACTERS_MAX || LONG_NUMBER.test(json) || REFERENCE.test(json)) return undefined;
      return this.texts.parse(json);
    });
  }
}

/** Writes the canonical request as a content-generation body. Model and streaming stand in its address. */
export function writeGeminiRequest(request: TextRequest, model: string, options: ProtocolOptions): JsonObject {
  const hosted = nativeHostedTools(request.hostedTools, 'gemini', options);
  const work = new SchemaWork();
  const functions = offeredTools(request, hosted).map((tool) => {
    const { name, description } = tool;
    const parametersJsonSchema = tool.parameters && selfContainedSchema(objectSchema(tool, work), work);
    return omitUndefined({ name, description, parametersJsonSchema });
  });
  const tools = nonEmpty([...(functions.length > 0 ? [{ functionDeclarations: functions }] : []), ...hosted]);
  const { system, turns } = withSystemInFront(request);
  const traits = traitsOf(options, 'gemini', model);
  return omitUndefined({
    contents: withCallsProven(writeContents(beginningWithUser(turns)), traits),
    systemInstruction: system.length > 0 ? { parts: system.map((text) => ({ text })) } : undefined,
    tools,
    toolConfig: functions.length > 0 ? writeToolConfig(request.toolChoice) : undefined,
    generationConfig: writeConfig(request, traits, options),
    serviceTier: serviceTierOf(request.serviceTier),
  });
}

function writeConfig(request: TextRequest, traits: ModelTraits, options: ProtocolOptions): JsonObject | undefined {
  const thinkingConfig = request.reasoning && writeThinking(request.reasoning, traits, options);
  const takesPenalties = traits.penalties === 'taken';
  const { temperature, topP, topK } = takenSampling(request, traits, thinkingConfig?.['thinkingLevel']);
  const config = omitUndefined({
    temperature,
    topP,
    topK,
    maxOutputTokens: request.maxOutputTokens,
    stopSequences: nonEmpty(request.stopSequences),
    seed: request.seed,
    presencePenalty: takesPenalties ? request.presencePenalty : undefined,
    frequencyPenalty: takesPenalties ? request.frequencyPenalty : undefined,
    thinkingConfig,
    ...writeFormat(request.format, new SchemaWork()),
  });
  return Object.keys(config).length > 0 ? config : undefined;
}

/** The largest budget that every model of the interface accepts. */
const MOST_THINKING_TOKENS = 24_576;

/** The least budget of a model that cannot be kept from thinking. */
const LEAST_THINKING_TOKENS = 128;

function writeThinking(
  reasoning: ReasoningRequest,
  traits: ModelTraits,
  { disablesReasoning }: ProtocolOptions,
): JsonObject | undefined {
  if (wantsNoReasoning(reasoning))
    return disablesReasoning === false ? undefined : { includeThoughts: false, ...leastThinking(traits) };
  if (traits.thinking === 'effort')
    return omitUndefined({ includeThoughts: reasoning.visible, thinkingLevel: reasoningEffort(reasoning, traits) });
  const wanted = reasoningBudget(reasoning);
  const thinkingBudget = wanted === undefined ? undefined : Math.min(wanted, MOST_THINKING_TOKENS);
  return omitUndefined({ includeThoughts: reasoning.visible, thinkingBudget });
}

/** The least that a model thinks: nothing, where it can be kept from it. */
function leastThinking(traits: ModelTraits): JsonObject {
  if (traits.thinking === 'effort') return { thinkingLevel: takenEffort('none', traits) };
  return { thinkingBudget: traits.thinking_off === 'refused' ? LEAST_THINKING_TOKENS : 0 };
}

function writeFormat(format: OutputFormat, work: SchemaWork): Record<string, JsonValue> {
  if (format.type === 'text') return {};
  const json = { responseMimeType: 'application/json' };
  if (format.type === 'json') return json;
  return { ...json, responseJsonSchema: selfContainedSchema(currentSchema(describedSchema(format)), work) };
}

function writeToolConfig(choice: ToolChoice): JsonObject | undefined {
  if (choice.mode === 'auto') return undefined;
  if (choice.mode === 'none') return { functionCallingConfig: { mode: 'NONE' } };
  const names = choice.names.length > 0 ? { allowedFunctionNames: choice.names } : {};
  return { functionCallingConfig: { mode: 'ANY', ...names } };
}

/** Neighbouring turns of a role become one content. */
function writeContents(turns: ReturnType<typeof withSystemInFront>['turns']): JsonObject[] {
  const contents: { role: string; parts: JsonObject[] }[] = [];
  const results = new ResultObjects();
  for (const turn of turns) {
    const role = turn.role === 'user' ? 'user' : 'model';
    const parts =
      turn.role === 'user' ? turn.parts.flatMap((part) => writeUserPart(part, results)) : writeModelParts(turn.parts);
    const last = contents.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else if (parts.length > 0) contents.push({ role, parts });
  }
  return contents.map(({ role, parts }) => ({ role, parts }));
}

const MEDIA_TYPE_BY_ENDING: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  pdf: 'application/pdf',
};

function writeMedia(source: MediaSource): JsonObject {
  if (source.kind === 'inline') return { inlineData: { mimeType: source.mediaType, data: source.base64 } };
  const ending = /\.([a-z]+)$/i.exec(new URL(source.url).pathname)?.[1]?.toLowerCase() ?? '';
  return { fileData: omitUndefined({ fileUri: source.url, mimeType: MEDIA_TYPE_BY_ENDING[ending] }) };
}

function writeUserPart(part: UserPart, results: ResultObjects): JsonObject[] {
  // The interface refuses a part without anything in it.
  if (part.type === 'text') return part.text === '' ? [] : [{ text: part.text }];
  return part.type === 'result' ? writeResult(part, results) : [writeMedia(part.source)];
}

function writeResult(part: ResultPart, results: ResultObjects): JsonObject[] {
  const text = part.content.flatMap((piece) => (piece.type === 'text' ? [piece.text] : [])).join('\n');
  const object = results.in(text);
  // The fields that this interface has for what a function returned, and for its failure.
  const plain = object && Object.keys(object).length > 0 ? object : { output: text };
  const response = part.isError && !('error' in plain) ? { error: text } : plain;
  const media = part.content.flatMap((piece) => (piece.type === 'text' ? [] : [writeMedia(piece.source)]));
  return [{ functionResponse: { id: part.callId, name: part.name, response } }, ...media];
}

/** A proof stands on the part it belongs to: the call or text that follows it, else a text without words, as this vendor sends it. */
function writeModelParts(parts: readonly AssistantPart[]): JsonObject[] {
  let proof: string | undefined;
  const alone = (): JsonObject[] => (proof === undefined ? [] : [{ text: '', thoughtSignature: proof }]);
  const written = parts.flatMap((part) => {
    if (part.type === 'reasoning') {
      const own = ownSignature('gemini', part);
      if (own === undefined) return [];
      const earlier = alone();
      proof = own;
      return earlier;
    }
    if (part.type === 'text' && part.text === '') return [];
    const proven = omitUndefined({ ...writeModelPart(part), thoughtSignature: proof });
    proof = undefined;
    return [proven];
  });
  return [...written, ...alone()];
}

function writeModelPart(part: Exclude<AssistantPart, { type: 'reasoning' }>): Record<string, JsonValue> {
  return part.type === 'text'
    ? { text: part.text }
    : { functionCall: { id: part.id, name: part.name, args: argumentsAsObject(part.arguments) } };
}

/**
 * The contents with a proof at each call that wants one and has none, the same where there is none: a conversation may come from another vendor. Calls of earlier
 * turns have it too, although the vendor looks at those of the last one alone: what was sent must stay as it was, for its prompt cache.
 */
export const withCallsProven = (
  contents: readonly JsonValue[],
  { call_proofs: proofs }: ModelTraits,
): readonly JsonValue[] =>
  proofs === 'needed'
    ? mapped(contents, (content) => (isJsonObject(content) ? withFirstProven(content) : content))
    : contents;

const partsOf = (content: JsonValue): readonly JsonValue[] =>
  isJsonObject(content) && Array.isArray(content['parts']) ? (content['parts'] as readonly JsonValue[]) : [];

const holds = (part: JsonValue, name: string): part is JsonObject => isJsonObject(part) && part[name] != null;

/** Of calls that were made at once, the first has the proof of all. */
function withFirstProven(content: JsonObject): JsonObject {
  const parts = partsOf(content);
  const first = parts.findIndex((part) => holds(part, 'functionCall') || holds(part, 'function_call'));
  const call = parts[first];
  const isProven = isJsonObject(call) && (call['thoughtSignature'] ?? call['thought_signature']) != null;
  if (!isJsonObject(call) || isProven) return content;
  const proven: JsonObject = { ...call, thoughtSignature: MADE_ELSEWHERE };
  return { ...content, parts: parts.with(first, proven) };
}
