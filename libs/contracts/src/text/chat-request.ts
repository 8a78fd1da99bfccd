import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { anything, type FieldCheck, Optional, Required } from './body-check.js';
import {
  all,
  AudioPart,
  choice,
  flag,
  jsonObject,
  listOf,
  number,
  object,
  stringOr,
  text,
  tokens,
  variants,
  whole,
} from './field-checks.js';
import { imageAddress, inlineFile } from './image-checks.js';
import { REASONING_EFFORTS, type ReasoningEffort } from './text-request.js';

class TextPart {
  @Required(text()) text!: string;
}

class RefusalPart {
  @Required(text()) refusal!: string;
}

class ImageUrl {
  @Required(imageAddress()) url!: string;
  @Optional(choice(['low', 'high', 'auto'])) detail?: 'low' | 'high' | 'auto';
}

class ImagePart {
  @Required(object(ImageUrl)) image_url!: ImageUrl;
}

class SentFile {
  @Optional(text()) filename?: string | null;
  @Optional(inlineFile()) file_data?: string | null;
  @Optional(text({ min: 1 })) file_id?: string | null;
}

const exactlyOneSource: FieldCheck = (value, param, report) => {
  if (isJsonObject(value) && (value['file_data'] == null) === (value['file_id'] == null))
    report(param, 'invalid_parameter', `${param} needs exactly one of file_data and file_id.`);
};

class FilePart {
  @Required(all(object(SentFile), exactlyOneSource)) file!: SentFile;
}

/** A part of a content; other types pass only to an upstream of this protocol. */
const contentPart = variants(
  { text: TextPart, refusal: RefusalPart, image_url: ImagePart, input_audio: AudioPart, file: FilePart },
  { others: 'pass-through' },
);

export type ChatPart =
  | ({ type: 'text' } & TextPart)
  | ({ type: 'refusal' } & RefusalPart)
  | ({ type: 'image_url' } & ImagePart)
  | ({ type: 'input_audio' } & AudioPart)
  | ({ type: 'file' } & FilePart);

class CalledFunction {
  @Required(text({ min: 1 })) name!: string;
  @Required(text()) arguments!: string;
}

class FunctionCall {
  @Required(text({ min: 1 })) id!: string;
  @Required(object(CalledFunction)) function!: CalledFunction;
  /** Where vendors put their proof of the reasoning that led to the call, `google.thought_signature`. */
  @Optional(jsonObject()) extra_content?: JsonObject | null;
}

class CalledCustom {
  @Required(text({ min: 1 })) name!: string;
  @Required(text()) input!: string;
}

/** A call of a tool whose input is a text and no JSON. */
class CustomCall {
  @Required(text({ min: 1 })) id!: string;
  @Required(object(CalledCustom)) custom!: CalledCustom;
  @Optional(jsonObject()) extra_content?: JsonObject | null;
}

/** A call in an assistant message; other types pass only to an upstream of this protocol. */
export type ChatToolCall = ({ type?: 'function' | null } & FunctionCall) | ({ type: 'custom' } & CustomCall);

export const isCustomCall = (call: ChatToolCall): call is { type: 'custom' } & CustomCall => call.type === 'custom';

const toolCall = variants(
  { function: FunctionCall, custom: CustomCall },
  { absent: 'function', others: 'pass-through' },
);

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const;

class Message {
  @Required(choice(ROLES)) role!: (typeof ROLES)[number];
  @Optional(stringOr(listOf(contentPart), 'an array of content parts')) content?: string | ChatPart[] | null;
  @Optional(listOf(toolCall)) tool_calls?: ChatToolCall[] | null;
  @Optional(text({ min: 1 })) tool_call_id?: string | null;
  /** Who speaks; of a result in the legacy form, the function. */
  @Optional(text()) name?: string | null;
  @Optional(text()) refusal?: string | null;
  /** Reasoning of an earlier turn, in the fields of several vendors. */
  @Optional(text()) reasoning_content?: string | null;
  @Optional(text()) reasoning?: string | null;
  @Optional(listOf(jsonObject())) reasoning_details?: JsonObject[] | null;
  /** The legacy form of one call without an id. */
  @Optional(object(CalledFunction)) function_call?: CalledFunction | null;
  /** Speech of an earlier turn, by its id. */
  @Optional(jsonObject()) audio?: JsonObject | null;
}

export type ChatMessage = Message;

/** What a role cannot go without. */
const rolesNeed: FieldCheck = (value, param, report) => {
  if (!isJsonObject(value)) return;
  const need = (field: string): void => {
    if (value[field] == null) report(`${param}.${field}`, 'missing_parameter', `${param}.${field} is required.`);
  };
  // What an assistant said may have been calls, or nothing; so may what a function returned, in words.
  if (value['role'] === 'function') need('name');
  if (value['role'] !== 'assistant' && !(value['role'] === 'function' && value['content'] === null)) need('content');
  if (value['role'] === 'tool') need('tool_call_id');
};

const chatMessage: FieldCheck = all(object(Message), rolesNeed);

class StreamOptions {
  /** Whether the caller wants to read the usage at the end of a stream; the gateway always does. */
  @Optional(flag()) include_usage?: boolean | null;
}

class FunctionDefinition {
  @Required(text({ min: 1 })) name!: string;
  @Optional(text()) description?: string | null;
  @Optional(jsonObject()) parameters?: JsonObject | null;
  @Optional(flag()) strict?: boolean | null;
}

class FunctionTool {
  @Required(object(FunctionDefinition)) function!: FunctionDefinition;
}

class Grammar {
  @Optional(text()) syntax?: string | null;
  @Optional(text()) definition?: string | null;
}

class CustomFormat {
  @Optional(text()) type?: string | null;
  @Optional(object(Grammar)) grammar?: Grammar | null;
}

class CustomDefinition {
  @Required(text({ min: 1 })) name!: string;
  @Optional(text()) description?: string | null;
  @Optional(object(CustomFormat)) format?: CustomFormat | null;
}

/** A tool whose input is a text and no JSON. */
class CustomTool {
  @Required(object(CustomDefinition)) custom!: CustomDefinition;
}

export type ChatFunctionTool = { type: 'function' } & FunctionTool;
type ChatCustomTool = { type: 'custom' } & CustomTool;
/** Functions, free-form tools, and tools of other types, which pass only to an upstream of this protocol. */
export type ChatTool = ChatFunctionTool | ChatCustomTool | { type: string & {} };

export const isChatCustomTool = (tool: ChatTool): tool is ChatCustomTool => tool.type === 'custom';

class NamedFunction {
  @Required(text({ min: 1 })) name!: string;
}

class FunctionChoice {
  @Required(object(NamedFunction)) function!: NamedFunction;
}

class CustomChoice {
  @Required(object(NamedFunction)) custom!: NamedFunction;
}

const namedTool = variants(
  { function: FunctionChoice, custom: CustomChoice },
  { absent: 'function', others: 'pass-through' },
);

/** One tool of the caller's, by its name, or one that the vendor runs. */
export type ChatNamedTool =
  ({ type?: 'function' | null } & FunctionChoice) | ({ type: 'custom' } & CustomChoice) | { type: string & {} };

class AllowedTools {
  @Required(choice(['auto', 'required'])) mode!: 'auto' | 'required';
  @Required(listOf(namedTool, { min: 1 })) tools!: ChatNamedTool[];
}

class AllowedChoice {
  @Required(object(AllowedTools)) allowed_tools!: AllowedTools;
}

/** `any` is one vendor's word for `required`. */
const TOOL_CHOICE_WORDS = ['auto', 'none', 'required', 'any'] as const;

type ChatToolChoice =
  | (typeof TOOL_CHOICE_WORDS)[number]
  | ({ type: 'function' } & FunctionChoice)
  | ({ type: 'custom' } & CustomChoice)
  | ({ type: 'allowed_tools' } & AllowedChoice);

const toolChoice: FieldCheck = (value, param, report) => {
  if (typeof value === 'string') return choice(TOOL_CHOICE_WORDS)(value, param, report);
  const forms = { function: FunctionChoice, custom: CustomChoice, allowed_tools: AllowedChoice };
  variants(forms, { others: 'pass-through' })(value, param, report);
};

const legacyChoice: FieldCheck = (value, param, report) =>
  (typeof value === 'string' ? choice(['auto', 'none']) : object(NamedFunction))(value, param, report);

class PlainFormat {}

class JsonFormat {
  /** Where some vendors take the schema of the answer. */
  @Optional(jsonObject()) schema?: JsonObject | null;
}

class JsonSchema {
  @Required(text({ min: 1 })) name!: string;
  @Optional(text()) description?: string | null;
  @Optional(jsonObject()) schema?: JsonObject | null;
  @Optional(flag()) strict?: boolean | null;
}

class SchemaFormat {
  @Required(object(JsonSchema)) json_schema!: JsonSchema;
}

/** Reasoning as one vendor of this interface has it switched: by a word or a number of tokens. */
class ReasoningOptions {
  @Optional(choice(REASONING_EFFORTS)) effort?: ReasoningEffort | null;
  @Optional(tokens()) max_tokens?: number | null;
  @Optional(flag()) enabled?: boolean | null;
  /** True: reason, and show nothing of it. */
  @Optional(flag()) exclude?: boolean | null;
}

class EnabledThinking {
  @Optional(tokens()) budget_tokens?: number | null;
}

class NoOptions {}

/** The two names of the output limit. The first is the newer one. */
export const CHAT_LIMITS = ['max_completion_tokens', 'max_tokens'] as const;

const MOST_REPLIES = 128;
const MOST_STOPS = 16;

/** Body of `POST /v1/chat/completions`, with what its many vendors add. Unknown fields are left alone. */
export class ChatRequest {
  @Required(text({ min: 1 })) model!: string;
  @Required(listOf(chatMessage, { min: 1 })) messages!: ChatMessage[];
  @Optional(flag()) stream?: boolean | null;
  @Optional(object(StreamOptions)) stream_options?: StreamOptions | null;
  @Optional(tokens()) max_completion_tokens?: number | null;
  @Optional(tokens()) max_tokens?: number | null;
  @Optional(whole(1, MOST_REPLIES)) n?: number | null;
  @Optional(number(0, 2)) temperature?: number | null;
  @Optional(number(0, 1)) top_p?: number | null;
  @Optional(whole(-1)) top_k?: number | null;
  @Optional(stringOr(listOf(text(), { max: MOST_STOPS }), 'an array of strings')) stop?: string | string[] | null;
  @Optional(number(-2, 2)) presence_penalty?: number | null;
  @Optional(number(-2, 2)) frequency_penalty?: number | null;
  @Optional(jsonObject()) logit_bias?: JsonObject | null;
  @Optional(flag()) logprobs?: boolean | null;
  @Optional(whole(0, 20)) top_logprobs?: number | null;
  @Optional(whole(Number.MIN_SAFE_INTEGER)) seed?: number | null;
  @Optional(listOf(variants({ function: FunctionTool, custom: CustomTool }, { others: 'pass-through' }))) tools?:
    ChatTool[] | null;
  @Optional(toolChoice) tool_choice?: ChatToolChoice | null;
  @Optional(flag()) parallel_tool_calls?: boolean | null;
  /** The legacy form of tools. */
  @Optional(listOf(object(FunctionDefinition))) functions?: FunctionDefinition[] | null;
  @Optional(legacyChoice) function_call?: 'auto' | 'none' | NamedFunction | null;
  @Optional(
    variants({ text: PlainFormat, json_object: JsonFormat, json_schema: SchemaFormat }, { others: 'pass-through' }),
  )
  response_format?:
    { type: 'text' } | ({ type: 'json_object' } & JsonFormat) | ({ type: 'json_schema' } & SchemaFormat) | null;
  /** Some vendors call `default` what a model does that may reason. */
  @Optional(choice([...REASONING_EFFORTS, 'default'])) reasoning_effort?: ReasoningEffort | 'default' | null;
  @Optional(object(ReasoningOptions)) reasoning?: ReasoningOptions | null;
  @Optional(variants({ enabled: EnabledThinking, disabled: NoOptions }, { others: 'pass-through' })) thinking?:
    ({ type: 'enabled' } & EnabledThinking) | { type: 'disabled' } | null;
  @Optional(flag()) enable_thinking?: boolean | null;
  @Optional(tokens(0)) thinking_budget?: number | null;
  /** Variables of the prompt template of a self-hosted server; some switch reasoning here. */
  @Optional(jsonObject()) chat_template_kwargs?: JsonObject | null;
  /** Forms of the reply that a server of one's own enforces, and words that it may not or shall use. */
  @Optional(anything) guided_json?: JsonValue;
  @Optional(anything) guided_regex?: JsonValue;
  @Optional(anything) guided_choice?: JsonValue;
  @Optional(anything) guided_grammar?: JsonValue;
  @Optional(anything) structured_outputs?: JsonValue;
  @Optional(anything) bad_words?: JsonValue;
  @Optional(anything) stop_token_ids?: JsonValue;
  @Optional(anything) min_tokens?: JsonValue;
  @Optional(anything) ignore_eos?: JsonValue;
  @Optional(anything) include_stop_str_in_output?: JsonValue;
  /** One vendor's name of `seed`. */
  @Optional(whole(0)) random_seed?: number | null;
  @Optional(listOf(text())) modalities?: string[] | null;
  @Optional(jsonObject()) audio?: JsonObject | null;
  @Optional(jsonObject()) prediction?: JsonObject | null;
  @Optional(jsonObject()) moderation?: JsonObject | null;
  @Optional(jsonObject()) web_search_options?: JsonObject | null;
  @Optional(choice(['low', 'medium', 'high'])) verbosity?: string | null;
  @Optional(jsonObject()) metadata?: JsonObject | null;
  @Optional(flag()) store?: boolean | null;
  @Optional(text()) service_tier?: string | null;
  @Optional(text()) user?: string | null;
  @Optional(text()) safety_identifier?: string | null;
  @Optional(text()) prompt_cache_key?: string | null;
}
