import {
  asksForThinking,
  type AssistantPart,
  type FilePart,
  type FunctionTool,
  GatewayError,
  type GeminiContent,
  type GeminiPart,
  type GeminiRequest,
  type GeminiTool,
  type HostedTool,
  type ImagePart,
  isJsonObject,
  isOptionalTool,
  isTextType,
  type JsonObject,
  type JsonValue,
  type MediaSource,
  namedTools,
  type OutputFormat,
  type ReasoningEffort,
  type ReasoningPart,
  type ReasoningRequest,
  type TextRequest,
  type ToolChoice,
  type UserPart,
} from '#contracts';
import { asJson, omitNullish } from '../json-object.js';
import { inlineMedia, stopSequences } from '../request-parts.js';
import { TurnList } from '../turn-list.js';
import { carriedReasoning } from './carried-reasoning.js';

/** Reads a checked content-generation body into the canonical request. */
export function readGeminiRequest(body: GeminiRequest, model: string, stream: boolean): TextRequest {
  const config = body.generationConfig ?? {};
  const calling = body.toolConfig?.functionCallingConfig;
  if (body.cachedContent) throw GatewayError.unsupported('cachedContent', 'a prompt cache of the vendor');
  if (body.continuationToken)
    throw GatewayError.unsupported('continuationToken', 'the continuation of a reply of another vendor');
  const modalities = config.responseModalities ?? [];
  if (modalities.some((modality) => modality.toUpperCase() !== 'TEXT'))
    throw GatewayError.unsupported('generationConfig.responseModalities', 'output other than text');
  if (config.responseLogprobs === true)
    throw GatewayError.unsupported('generationConfig.responseLogprobs', 'log probabilities');
  for (const [field, what] of MADE_OTHERWISE)
    if (config[field]) throw GatewayError.unsupported(`generationConfig.${field}`, what);
  const turns = new TurnList('contents');
  body.contents.forEach((content, index) => readGeminiContent(content, `contents[${index}]`, turns));
  return omitNullish<TextRequest>({
    model,
    stream,
    ...turns.conversation(),
    system: readSystem(body.systemInstruction),
    tools: allowedTools((body.tools ?? []).flatMap(readFunctions), calling),
    hostedTools: (body.tools ?? []).flatMap(readHosted),
    toolChoice: readToolChoice(calling),
    parallelToolCalls: true,
    format: readFormat(config),
    reasoning: readReasoning(config.thinkingConfig, model),
    maxOutputTokens: config.maxOutputTokens,
    temperature: config.temperature,
    topP: config.topP,
    topK: config.topK,
    stopSequences: stopSequences(config.stopSequences),
    fieldNames: { stop: 'generationConfig.stopSequences', temperature: 'generationConfig.temperature' },
    seed: config.seed,
    presencePenalty: config.presencePenalty,
    frequencyPenalty: config.frequencyPenalty,
  });
}

type Config = NonNullable<GeminiRequest['generationConfig']>;

/** How speech and images are to be made. */
const MADE_OTHERWISE = [
  ['speechConfig', 'a spoken answer'],
  ['imageConfig', 'an answer in images'],
] as const satisfies readonly (readonly [keyof Config, string])[];

function readSystem(sent: GeminiRequest['systemInstruction']): string[] {
  if (sent === undefined || sent === null) return [];
  return typeof sent === 'string' ? [sent] : [sent.parts.map(readSystemPart).join('\n')];
}

function readSystemPart(part: GeminiPart, index: number): string {
  const param = `systemInstruction.parts[${index}]`;
  expectOneContent(part, param);
  if (part.text === undefined) throw GatewayError.unsupported(param, 'anything but text in a system instruction');
  return part.text;
}

function readFunctions(tool: GeminiTool): FunctionTool[] {
  return (tool.functionDeclarations ?? []).map(({ name, description, parameters, parametersJsonSchema }) =>
    omitNullish<FunctionTool>({
      name,
      description,
      parameters: parametersJsonSchema ?? (parameters ? jsonSchemaOf(parameters) : undefined),
    }),
  );
}

/** Every other key of a tool is something the vendor runs, for example `googleSearch`. */
function readHosted(tool: GeminiTool, index: number): HostedTool[] {
  return Object.keys(tool)
    .filter((key) => key !== 'functionDeclarations')
    .map((type) => ({
      protocol: 'gemini',
      param: `tools[${index}].${type}`,
      type,
      isOptional: isOptionalTool({ type }, undefined),
      definition: { [type]: tool[type] } as JsonObject,
    }));
}

type Calling = NonNullable<GeminiRequest['toolConfig']>['functionCallingConfig'];

/** Unless a call is forced, the names say which functions there are. */
function allowedTools(tools: FunctionTool[], config: Calling): FunctionTool[] {
  const names = config?.mode === 'VALIDATED' ? (config.allowedFunctionNames ?? []) : [];
  return names.length > 0 ? namedTools(tools, names) : tools;
}

function readToolChoice(config: Calling): ToolChoice {
  if (config?.mode === 'ANY')
    return {
      mode: 'required',
      names: config.allowedFunctionNames ?? [],
      param: 'toolConfig.functionCallingConfig',
    };
  return { mode: config?.mode === 'NONE' ? 'none' : 'auto' };
}

/** The type and the schema of the answer, in the newer or the former fields for them. */
function askedFormat(config: Config): { readonly type: string | undefined; readonly schema: JsonObject | undefined } {
  const formats = (config.responseFormat ?? []).flatMap(({ text }) => (text ? [text] : []));
  if (formats.length > 1)
    throw GatewayError.unsupported('generationConfig.responseFormat', 'more than one response format');
  const dialect = config.responseSchema ? jsonSchemaOf(config.responseSchema) : undefined;
  const type = formats[0]?.mimeType ?? config.responseMimeType;
  // One of the fields writes the type as `APPLICATION_JSON`.
  return {
    type: type?.toLowerCase().replace('_', '/'),
    schema: formats[0]?.schema ?? config.responseJsonSchema ?? dialect,
  };
}

function readFormat(config: Config): OutputFormat {
  const { type, schema } = askedFormat(config);
  // A schema that stands alone says what the answer is.
  if (type === 'text/plain' || (type === undefined && !schema)) return { type: 'text' };
  if (type !== undefined && type !== 'application/json')
    throw GatewayError.unsupported('generationConfig.responseMimeType', `"${type}"`);
  return schema ? { type: 'json-schema', name: 'output', schema: asJson(schema) } : { type: 'json' };
}

/** The least of all levels is a number here: other vendors' words for it differ. */
const MINIMAL_TOKENS = 1_024;
const EFFORTS: Record<string, ReasoningEffort> = { LOW: 'low', MEDIUM: 'medium', HIGH: 'high' };
const NO_LEVEL = 'THINKING_LEVEL_UNSPECIFIED';
const LEVELS: ReadonlySet<string> = new Set([NO_LEVEL, 'MINIMAL', ...Object.keys(EFFORTS)]);

function readReasoning(config: Config['thinkingConfig'], model: string): ReasoningRequest | undefined {
  const visible = config?.includeThoughts ?? asksForThinking(model);
  if (!config) return visible ? { visible } : undefined;
  const budget = config.thinkingBudget;
  if (budget === 0) return { budgetTokens: 0, visible: false };
  const level = config.thinkingLevel?.toUpperCase() ?? NO_LEVEL;
  if (!LEVELS.has(level))
    throw GatewayError.unsupported('generationConfig.thinkingConfig.thinkingLevel', `"${config.thinkingLevel}"`);
  const least = level === 'MINIMAL' ? MINIMAL_TOKENS : undefined;
  return omitNullish<ReasoningRequest>({
    visible,
    effort: EFFORTS[level],
    budgetTokens: budget !== undefined && budget > 0 ? budget : least,
  });
}

/** Adds one content to the conversation. Clients send one model content per streamed chunk, so neighbours are merged. */
function readGeminiContent(content: GeminiContent, param: string, turns: TurnList): void {
  const userParts: UserPart[] = [];
  const flush = (): void => turns.user(userParts.splice(0));
  content.parts.forEach((part, index) => {
    const place = `${param}.parts[${index}]`;
    expectOneContent(part, place);
    if (content.role === 'model') return turns.assistant(readModelPart(part, place, turns));
    if (!part.functionResponse) {
      userParts.push(readUserPart(part, place));
      return;
    }
    flush();
    readFunctionResponse(part.functionResponse, place, turns);
  });
  flush();
}

/** What a part may hold that other interfaces have words for, one at a time. */
const CONTENTS = ['inlineData', 'fileData', 'functionCall', 'functionResponse'] as const;

/** @throws GatewayError `unsupported_parameter` for a part that holds several things, of which one would be lost. */
function expectOneContent(part: GeminiPart, param: string): void {
  const held = [...CONTENTS.filter((name) => part[name] !== undefined), ...(part.text ? ['text'] : [])];
  if (held.length > 1) throw GatewayError.unsupported(param, `a part that holds ${held.join(' and ')}`);
}

function readFunctionResponse(
  { id, name, response, parts = [] }: NonNullable<GeminiPart['functionResponse']>,
  param: string,
  turns: TurnList,
): void {
  const isError = response !== undefined && Object.keys(response).length === 1 && 'error' in response;
  const media = parts.map((part, index) => readUserPart(part, `${param}.functionResponse.parts[${index}]`));
  turns.result(
    { callId: id ?? '', name, content: [{ type: 'text', text: returnedText(turns, response) }, ...media], isError },
    `${param}.functionResponse`,
  );
}

/** What a function returned. A text that stands alone in the field for it is said as it is, and not as JSON. */
function returnedText(turns: TurnList, response: JsonObject = {}): string {
  const [[name, value] = [], ...others] = Object.entries(response);
  const isText = others.length === 0 && (name === 'output' || name === 'error') && typeof value === 'string';
  return isText ? value : turns.arguments.written(response);
}

function readModelPart(part: GeminiPart, param: string, turns: TurnList): AssistantPart[] {
  const signature = part.thoughtSignature;
  const proof: ReasoningPart[] = signature === undefined ? [] : carriedReasoning(signature, turns.texts);
  if (part.functionCall) {
    const { id, name, args } = part.functionCall;
    return [
      ...proof,
      { type: 'call', id: id ?? turns.nextCallId(), name, arguments: turns.arguments.written(args ?? {}) },
    ];
  }
  if (part.thought) {
    const text = part.text ?? '';
    return text === '' ? proof : [{ type: 'reasoning', text, ...(signature === undefined ? {} : { signature }) }];
  }
  if (part.text !== undefined) return part.text === '' ? proof : [...proof, { type: 'text', text: part.text }];
  if (proof.length > 0) return proof;
  throw GatewayError.unsupported(param, 'this kind of part in a model turn');
}

/** Endings of addresses that show the type of the file. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  pdf: 'application/pdf',
};

function mediaTypeOf(url: string): string | undefined {
  const ending = /\.([a-z]+)(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(MEDIA_TYPES, ending) ? MEDIA_TYPES[ending] : undefined;
}

function readUserPart(part: GeminiPart, param: string): Exclude<UserPart, { type: 'result' }> {
  if (part.videoMetadata) throw GatewayError.unsupported(`${param}.videoMetadata`, 'a section of a video');
  if (part.inlineData) {
    const { mimeType, data } = part.inlineData;
    return mediaPart(inlineMedia(mimeType, data), mimeType, `${param}.inlineData`);
  }
  if (part.fileData) {
    const { fileUri } = part.fileData;
    const mimeType = part.fileData.mimeType ?? mediaTypeOf(fileUri);
    if (!/^https?:/i.test(fileUri)) throw GatewayError.unsupported(`${param}.fileData.fileUri`, 'an uploaded file');
    if (mimeType === undefined) throw GatewayError.unsupported(`${param}.fileData`, 'a link without a media type');
    return mediaPart({ kind: 'url', url: fileUri }, mimeType, `${param}.fileData`);
  }
  if (part.text !== undefined) return { type: 'text', text: part.text };
  throw GatewayError.unsupported(param, 'this kind of part in a user turn');
}

function mediaPart(source: MediaSource, named: string, param: string): ImagePart | FilePart {
  const mediaType = source.kind === 'inline' ? source.mediaType : named;
  if (mediaType.startsWith('image/')) return { type: 'image', source, param };
  if (mediaType === 'application/pdf' || (isTextType(mediaType) && source.kind === 'inline'))
    return { type: 'file', source, param };
  throw GatewayError.unsupported(`${param}.mimeType`, `"${mediaType}"`);
}

/** Numbers that the style's own dialect may write as texts. */
const COUNTS = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties']);

/** Fields that JSON Schema does not have and that only order or illustrate. */
const ONLY_HERE = new Set(['propertyOrdering', 'nullable', 'example']);

const FORMATS_ONLY_HERE = new Set(['enum', 'int32', 'int64', 'float', 'double']);

/** The interface reads its own words in snake_case as well; names of properties stay what they are. */
const SPELLED = new Map(
  [...COUNTS, ...ONLY_HERE, 'anyOf', 'additionalProperties', 'prefixItems'].map((name) => [
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    name,
  ]),
);

type Write = (value: JsonValue) => JsonValue | undefined;

const mapped = (value: JsonValue): JsonValue => (isJsonObject(value) ? jsonSchemaOf(value) : value);
const listed: Write = (value) => (Array.isArray(value) ? value.map(mapped) : value);
const count: Write = (value) => (typeof value === 'string' ? Number(value) : value);
const byName: Write = (value) =>
  isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, mapped(schema ?? null)]))
    : value;

/** How the fields of a schema are written that JSON Schema writes in another way. */
const WRITE: Readonly<Record<string, Write>> = {
  type: (value) => (typeof value === 'string' ? value.toLowerCase() : value),
  format: (value) => (typeof value === 'string' && FORMATS_ONLY_HERE.has(value) ? undefined : value),
  properties: byName,
  items: mapped,
  additionalProperties: mapped,
  anyOf: listed,
};

function fieldOf(name: string, value: JsonValue): JsonValue | undefined {
  if (ONLY_HERE.has(name)) return undefined;
  if (COUNTS.has(name)) return count(value);
  const write = Object.hasOwn(WRITE, name) ? WRITE[name] : undefined;
  return write ? write(value) : value;
}

/** What may be null says so by its type, and by its words where there is a list of them. */
function nullable({ type, enum: words, anyOf, ...rest }: JsonObject): JsonObject {
  const also = [
    ...(typeof type === 'string' ? [['type', [type, 'null']] as const] : []),
    ...(Array.isArray(words) ? [['enum', [...words, null]] as const] : []),
    ...(Array.isArray(anyOf) ? [['anyOf', [...anyOf, { type: 'null' }]] as const] : []),
  ];
  return { ...rest, ...Object.fromEntries(also) };
}

/** A schema in the style's own dialect, with types in capitals, counts as texts and `nullable`, as JSON Schema. */
function jsonSchemaOf(schema: JsonObject): JsonObject {
  const written = Object.entries(schema).flatMap(([sent, value]) => {
    const name = SPELLED.get(sent) ?? sent;
    const entry = value === undefined ? undefined : fieldOf(name, value);
    return entry === undefined ? [] : [[name, entry] as const];
  });
  const plain: JsonObject = Object.fromEntries(written);
  return schema['nullable'] === true ? nullable(plain) : plain;
}
