import { isJsonObject, type JsonObject } from '../json.js';
import { Optional, Required, type FieldCheck } from './body-check.js';
import {
  all,
  choice,
  flag,
  jsonObject,
  listOf,
  number,
  object,
  text,
  tokens,
  unsupported,
  whole,
} from './field-checks.js';
import { base64Data } from './image-checks.js';

class InlineData {
  @Required(text({ min: 1 })) mimeType!: string;
  @Required(base64Data()) data!: string;
}

class FileData {
  @Optional(text()) mimeType?: string;
  @Required(text({ min: 1 })) fileUri!: string;
}

class FunctionCall {
  @Optional(text({ min: 1 })) id?: string;
  @Required(text({ min: 1 })) name!: string;
  @Optional(jsonObject()) args?: JsonObject;
}

class FunctionResponse {
  @Optional(text({ min: 1 })) id?: string;
  @Required(text({ min: 1 })) name!: string;
  @Optional(jsonObject()) response?: JsonObject;
  /** Images and files that belong to the response. */
  @Optional((value, param, report) => listOf(object(Part))(value, param, report)) parts?: Part[];
}

class Part {
  @Optional(text()) text?: string;
  @Optional(object(InlineData)) inlineData?: InlineData;
  @Optional(object(FileData)) fileData?: FileData;
  @Optional(object(FunctionCall)) functionCall?: FunctionCall;
  @Optional(object(FunctionResponse)) functionResponse?: FunctionResponse;
  @Optional(jsonObject()) executableCode?: JsonObject;
  @Optional(jsonObject()) codeExecutionResult?: JsonObject;
  /** A call of a tool that the vendor ran, and its result. */
  @Optional(jsonObject()) toolCall?: JsonObject;
  @Optional(jsonObject()) toolResponse?: JsonObject;
  @Optional(jsonObject()) videoMetadata?: JsonObject;
  @Optional(flag()) thought?: boolean;
  @Optional(text()) thoughtSignature?: string;
}

const PART_CONTENT = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
] as const;

const holdsSomething: FieldCheck = (value, param, report) => {
  if (isJsonObject(value) && !PART_CONTENT.some((name) => value[name] != null) && value['thoughtSignature'] == null)
    report(param, 'missing_parameter', `${param} is empty: it needs one of ${PART_CONTENT.join(', ')}.`);
};

class Content {
  @Optional(choice(['user', 'model', 'function'])) role?: 'user' | 'model' | 'function';
  @Required(listOf(all(object(Part), holdsSomething), { min: 1 })) parts!: Part[];
}

class SystemContent {
  @Required(listOf(object(Part), { min: 1 })) parts!: Part[];
}

/** A system instruction is a content; some clients send the bare text. */
const systemInstruction: FieldCheck = (value, param, report) => {
  if (typeof value !== 'string') object(SystemContent)(value, param, report);
};

class SafetySetting {
  @Required(text({ min: 1 })) category!: string;
  @Required(text({ min: 1 })) threshold!: string;
}

class FunctionDeclaration {
  @Required(text({ min: 1 })) name!: string;
  @Optional(text()) description?: string;
  @Optional(jsonObject()) parameters?: JsonObject;
  @Optional(jsonObject()) parametersJsonSchema?: JsonObject;
}

class Tool {
  @Optional(listOf(object(FunctionDeclaration))) functionDeclarations?: FunctionDeclaration[];
}

class FunctionCallingConfig {
  @Optional(choice(['MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED'])) mode?: string;
  @Optional(listOf(text())) allowedFunctionNames?: string[];
}

class ToolConfig {
  @Optional(object(FunctionCallingConfig)) functionCallingConfig?: FunctionCallingConfig;
}

class ThinkingConfig {
  @Optional(flag()) includeThoughts?: boolean;
  /** Tokens to think with: 0 turns thinking off, -1 leaves it to the model. */
  @Optional(tokens(-1)) thinkingBudget?: number;
  @Optional(text()) thinkingLevel?: string;
}

class TextFormat {
  @Optional(text()) mimeType?: string;
  @Optional(jsonObject()) schema?: JsonObject;
}

/** The newer form of `responseMimeType` and `responseSchema`; images, speech and videos stand beside `text`. */
class ResponseFormat {
  @Optional(object(TextFormat)) text?: TextFormat;
}

class GenerationConfig {
  @Optional(number(0, 2)) temperature?: number;
  @Optional(number(0, 1)) topP?: number;
  @Optional(number(0, Number.MAX_SAFE_INTEGER)) topK?: number;
  @Optional(tokens()) maxOutputTokens?: number;
  @Optional(listOf(text(), { max: 16 })) stopSequences?: string[];
  @Optional(unsupported('each request has one candidate; send several requests.', 1)) candidateCount?: 1;
  @Optional(whole(-2_147_483_648, 4_294_967_295)) seed?: number;
  @Optional(number(-2, 2)) presencePenalty?: number;
  @Optional(number(-2, 2)) frequencyPenalty?: number;
  @Optional(flag()) responseLogprobs?: boolean;
  @Optional(text()) responseMimeType?: string;
  @Optional(jsonObject()) responseSchema?: JsonObject;
  @Optional(jsonObject()) responseJsonSchema?: JsonObject;
  @Optional(listOf(object(ResponseFormat))) responseFormat?: ResponseFormat[];
  @Optional(listOf(text())) responseModalities?: string[];
  @Optional(object(ThinkingConfig)) thinkingConfig?: ThinkingConfig;
  @Optional(jsonObject()) speechConfig?: JsonObject;
  @Optional(jsonObject()) imageConfig?: JsonObject;
}

/**
 * Body of `POST /v1beta/models/{model}:{method}`, with the native fields that client libraries send.
 * Names are camelCase here; `camelCaseGemini` reads the snake_case spelling that the interface allows as well.
 */
export class GeminiRequest {
  @Required(listOf(object(Content), { min: 1 })) contents!: Content[];
  @Optional(object(GenerationConfig)) generationConfig?: GenerationConfig;
  @Optional(listOf(object(SafetySetting))) safetySettings?: SafetySetting[];
  @Optional(systemInstruction) systemInstruction?: string | SystemContent;
  @Optional(listOf(object(Tool))) tools?: (Tool & JsonObject)[];
  @Optional(object(ToolConfig)) toolConfig?: ToolConfig;
  @Optional(text({ min: 1 })) cachedContent?: string;
  /** Goes on with a reply of the vendor that reached the most of one request. */
  @Optional(text({ min: 1 })) continuationToken?: string;
}

export type GeminiContent = Content;
export type GeminiPart = Part;
export type GeminiTool = Tool & JsonObject;

export const GEMINI_METHODS = ['generateContent', 'streamGenerateContent'] as const;
export type GeminiMethod = (typeof GEMINI_METHODS)[number];
