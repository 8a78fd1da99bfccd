import {
  asksForThinking,
  type FunctionTool,
  type GeminiPart,
  type GeminiRequest,
  type GeminiTool,
  type HostedTool,
  isOptionalTool,
  type JsonObject,
  type OutputFormat,
  type ReasoningEffort,
  type ReasoningRequest,
  type TextRequest,
  type ToolChoice,
} from '#contracts';
import { asJson, withoutAbsent } from '../json-object.js';
import { cannotTranslate } from '../refusals.js';
import { stopSequences } from '../request-parts.js';
import { TurnList } from '../turn-list.js';
import { jsonSchemaOf } from './gemini-schema.js';
import { expectOneContent, readGeminiContent } from './read-gemini-contents.js';

/** Reads a checked content-generation body into the canonical request. */
export function readGeminiRequest(body: GeminiRequest, model: string, stream: boolean): TextRequest {
  const config = body.generationConfig ?? {};
  const calling = body.toolConfig?.functionCallingConfig;
  if (body.cachedContent) throw cannotTranslate('cachedContent', 'a prompt cache of the vendor');
  const modalities = config.responseModalities ?? [];
  if (modalities.some((modality) => modality.toUpperCase() !== 'TEXT'))
    throw cannotTranslate('generationConfig.responseModalities', 'output other than text');
  if (config.responseLogprobs === true) throw cannotTranslate('generationConfig.responseLogprobs', 'log probabilities');
  for (const [field, what] of MADE_OTHERWISE)
    if (config[field]) throw cannotTranslate(`generationConfig.${field}`, what);
  const turns = new TurnList('contents');
  body.contents.forEach((content, index) => readGeminiContent(content, `contents[${index}]`, turns));
  return withoutAbsent<TextRequest>({
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
  if (part.text === undefined) throw cannotTranslate(param, 'anything but text in a system instruction');
  return part.text;
}

function readFunctions(tool: GeminiTool): FunctionTool[] {
  return (tool.functionDeclarations ?? []).map(({ name, description, parameters, parametersJsonSchema }) =>
    withoutAbsent<FunctionTool>({
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
  return names.length > 0 ? tools.filter(({ name }) => names.includes(name)) : tools;
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
  if (formats.length > 1) throw cannotTranslate('generationConfig.responseFormat', 'more than one response format');
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
    throw cannotTranslate('generationConfig.responseMimeType', `"${type}"`);
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
    throw cannotTranslate('generationConfig.thinkingConfig.thinkingLevel', `"${config.thinkingLevel}"`);
  const least = level === 'MINIMAL' ? MINIMAL_TOKENS : undefined;
  return withoutAbsent<ReasoningRequest>({
    visible,
    effort: EFFORTS[level],
    budgetTokens: budget !== undefined && budget > 0 ? budget : least,
  });
}
