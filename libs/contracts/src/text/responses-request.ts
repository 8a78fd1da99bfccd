import { isJsonObject, type JsonObject } from '../json.js';
import { anything, Optional, Required, type FieldCheck } from './body-check.js';
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
  unsupported,
  variants,
  whole,
} from './field-checks.js';
import { identifier } from './identifier.js';
import { responsesItem, type ResponsesItem } from './responses-items.js';
import { responsesTool, type ResponsesTool } from './responses-tools.js';
import { REASONING_EFFORTS, type ReasoningEffort } from './text-request.js';

const TOOL_CHOICE_WORDS = ['auto', 'none', 'required'] as const;

class NamedChoice {
  @Required(text({ min: 1 })) name!: string;
  @Optional(text()) namespace?: string | null;
}

/** Tools that the vendor runs have a type and no name. */
class AllowedTool {
  @Optional(text({ min: 1 })) type?: string;
  @Optional(text({ min: 1 })) name?: string;
  @Optional(text()) namespace?: string | null;
}

class AllowedTools {
  @Optional(choice(['auto', 'required'])) mode?: 'auto' | 'required';
  @Required(listOf(object(AllowedTool), { min: 1 })) tools!: AllowedTool[];
}

/** A choice that is more than a word: one tool of the caller's, a function in either form, or a subset of the tools. */
export type ResponsesToolChoice =
  | ({ type: 'function' } & (NamedChoice | { function: NamedChoice }))
  | ({ type: 'custom' } & NamedChoice)
  | ({ type: 'allowed_tools' } & AllowedTools);

const toolChoice: FieldCheck = (value, param, report) => {
  if (typeof value === 'string') return choice(TOOL_CHOICE_WORDS)(value, param, report);
  // The spec's nested tool form has a nested choice as its natural partner: {type, function: {name}}.
  if (isJsonObject(value) && isJsonObject(value['function']))
    return object(NamedChoice)(value['function'], `${param}.function`, report);
  variants({ function: NamedChoice, custom: NamedChoice, allowed_tools: AllowedTools }, { others: 'pass-through' })(
    value,
    param,
    report,
  );
};

class ReasoningOptions {
  @Optional(choice(REASONING_EFFORTS)) effort?: ReasoningEffort;
  @Optional(choice(['auto', 'concise', 'detailed'])) summary?: string;
  @Optional(choice(['auto', 'concise', 'detailed'])) generate_summary?: string;
  /** `standard`, or a more expensive mode. */
  @Optional(text()) mode?: string | null;
}

class PlainFormat {}

class SchemaFormat {
  @Required(text({ min: 1 })) name!: string;
  @Required(jsonObject()) schema!: JsonObject;
  @Optional(text()) description?: string;
  @Optional(flag()) strict?: boolean;
}

class TextOptions {
  @Optional(variants({ text: PlainFormat, json_object: PlainFormat, json_schema: SchemaFormat }))
  format?: { type: 'text' } | { type: 'json_object' } | ({ type: 'json_schema' } & SchemaFormat);
  @Optional(choice(['low', 'medium', 'high'])) verbosity?: string;
}

/** The names of the output limit. The first is the style's own, the others are what users of neighbouring interfaces write. */
export const RESPONSES_LIMITS = ['max_output_tokens', 'max_completion_tokens', 'max_tokens'] as const;

const outputLimit = tokens();

/** Body of `POST /v1/responses`, with the native fields that client libraries send. Unknown fields are left alone. */
export class ResponsesRequest {
  @Required(text({ min: 1 })) model!: string;
  @Required(stringOr(listOf(responsesItem, { min: 1 }), 'an array of input items')) input!: string | ResponsesItem[];
  @Optional(text()) instructions?: string | null;
  @Optional(number(0, 2)) temperature?: number | null;
  @Optional(number(0, 1)) top_p?: number | null;
  @Optional(outputLimit) max_output_tokens?: number | null;
  /** Other names of the output limit, which users of chat completions write. */
  @Optional(outputLimit) max_tokens?: number | null;
  @Optional(outputLimit) max_completion_tokens?: number | null;
  @Optional(flag()) stream?: boolean | null;
  @Optional(listOf(responsesTool)) tools?: ResponsesTool[] | null;
  @Optional(toolChoice) tool_choice?: (typeof TOOL_CHOICE_WORDS)[number] | ResponsesToolChoice | null;
  @Optional(flag()) parallel_tool_calls?: boolean | null;
  @Optional(whole(1)) max_tool_calls?: number | null;
  @Optional(object(TextOptions)) text?: TextOptions | null;
  @Optional(object(ReasoningOptions)) reasoning?: ReasoningOptions | null;
  @Optional(identifier()) previous_response_id?: string | null;
  @Optional(flag()) store?: boolean | null;
  @Optional(stringOr(listOf(text()), 'an array of strings')) stop?: string | string[] | null;
  @Optional(jsonObject()) metadata?: JsonObject | null;
  @Optional(text()) user?: string | null;
  @Optional(text()) safety_identifier?: string | null;
  @Optional(text()) prompt_cache_key?: string | null;
  @Optional(listOf(text())) include?: string[] | null;
  @Optional(choice(['auto', 'disabled'])) truncation?: string | null;
  @Optional(text()) service_tier?: string | null;
  @Optional(whole(0, 20)) top_logprobs?: number | null;
  @Optional(number(-2, 2)) presence_penalty?: number | null;
  @Optional(number(-2, 2)) frequency_penalty?: number | null;
  @Optional(jsonObject()) moderation?: JsonObject | null;
  @Optional(anything) stream_options?: JsonObject | null;
  @Optional(unsupported('a reply is made while the caller waits; leave it out or send false.', false))
  background?: false;
  @Optional(unsupported('a reply is one; send several requests.', 1)) n?: 1;
  @Optional(unsupported('a reply is one; send several requests.', 1)) best_of?: 1;
  @Optional(unsupported('send the turns in input, or previous_response_id.')) conversation?: never;
  @Optional(unsupported('send the text of the prompt in input.')) prompt?: never;
}
