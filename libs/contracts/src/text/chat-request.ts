import type { JsonObject, JsonValue } from '../json.js';
import { anything, Optional, Required, type FieldCheck } from './body-check.js';
import { chatMessage, type ChatMessage } from './chat-messages.js';
import {
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
import { REASONING_EFFORTS, type ReasoningEffort } from './text-request.js';

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
export type ChatCustomTool = { type: 'custom' } & CustomTool;
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

export type ChatToolChoice =
  | (typeof TOOL_CHOICE_WORDS)[number]
  | ({ type: 'function' } & FunctionChoice)
  | ({ type: 'custom' } & CustomChoice)
  | ({ type: 'allowed_tools' } & AllowedChoice);

const toolChoice: FieldCheck = (value, param, report) => {
  if (typeof value === 'string') return choice(TOOL_CHOICE_WORDS)(value, param, report);
  const forms = { function: FunctionChoice, custom: CustomChoice, allowed_tools: AllowedChoice };
  variants(forms, { others: 'pass-through' })(value, param, report);
};

/** The choice among `functions`. */
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

/** The most replies to one request. */
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
