import { isJsonObject, type JsonObject } from '../json.js';
import { anything, type FieldCheck, Optional, Required } from './body-check.js';
import {
  all,
  AudioPart,
  choice,
  flag,
  identifier,
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
import { imageAddress, inlineFile, webAddress } from './image-checks.js';
import { REASONING_EFFORTS, type ReasoningEffort } from './text-request.js';

/** `image_url` is a string; the object form of chat completions is understood too. */
const imageUrl: FieldCheck = (value, param, report) => {
  if (isJsonObject(value)) imageAddress()(value['url'], `${param}.url`, report);
  else imageAddress()(value, param, report);
};

class TextBlock {
  @Required(text()) text!: string;
}

class RefusalBlock {
  @Required(text()) refusal!: string;
}

class ImageBlock {
  @Optional(imageUrl) image_url?: string | { url: string } | null;
  @Optional(text({ min: 1 })) file_id?: string | null;
  @Optional(choice(['low', 'high', 'auto', 'original'])) detail?: 'low' | 'high' | 'auto' | 'original';
}

class FileBlock {
  @Optional(text()) filename?: string;
  @Optional(inlineFile()) file_data?: string;
  @Optional(webAddress()) file_url?: string;
  @Optional(text({ min: 1 })) file_id?: string;
}

const exactlyOneFileSource: FieldCheck = (value, param, report) => {
  if (!isJsonObject(value) || value['type'] !== 'input_file') return;
  const sources = ['file_data', 'file_url', 'file_id'].filter((name) => value[name] != null);
  if (sources.length !== 1)
    report(param, 'invalid_parameter', `${param} needs exactly one of file_data, file_url and file_id.`);
};

const oneImageSource: FieldCheck = (value, param, report) => {
  if (!isJsonObject(value) || value['type'] !== 'input_image') return;
  if (value['image_url'] == null && value['file_id'] == null)
    report(`${param}.image_url`, 'missing_parameter', `${param}.image_url is required, or ${param}.file_id.`);
};

const contentBlock = all(
  variants({
    input_text: TextBlock,
    output_text: TextBlock,
    text: TextBlock,
    refusal: RefusalBlock,
    input_image: ImageBlock,
    input_file: FileBlock,
    input_audio: AudioPart,
  }),
  exactlyOneFileSource,
  oneImageSource,
);

/** A content block of an input item of the Responses interface. */
export type ResponsesBlock =
  | ({ type: 'input_text' | 'output_text' | 'text' } & TextBlock)
  | ({ type: 'refusal' } & RefusalBlock)
  | ({ type: 'input_image' } & ImageBlock)
  | ({ type: 'input_file' } & FileBlock)
  | ({ type: 'input_audio' } & AudioPart);

const blocks = stringOr(listOf(contentBlock), 'an array of content blocks');

class NestedFunctionCall {
  @Required(text({ min: 1 })) name!: string;
  @Required(text()) arguments!: string;
}

/** A tool call as `data.choices[].message.tool_calls` shows it. */
class NestedToolCall {
  @Required(text({ min: 1 })) id!: string;
  @Required(object(NestedFunctionCall)) function!: NestedFunctionCall;
}

class MessageItem {
  @Optional(identifier()) id?: string;
  @Required(choice(['user', 'assistant', 'system', 'developer', 'tool'])) role!:
    'user' | 'assistant' | 'system' | 'developer' | 'tool';
  @Optional(blocks) content?: string | ResponsesBlock[] | null;
  @Optional(listOf(object(NestedToolCall))) tool_calls?: NestedToolCall[];
  @Optional(text({ min: 1 })) tool_call_id?: string;
}

class FunctionCallItem {
  @Optional(identifier()) id?: string;
  @Required(text({ min: 1 })) call_id!: string;
  @Required(text({ min: 1 })) name!: string;
  @Optional(text()) namespace?: string | null;
  @Required(text()) arguments!: string;
}

/** A call of a tool whose input is a text and no JSON. Its output has the form of a function's. */
class CustomToolCallItem {
  @Optional(identifier()) id?: string;
  @Required(text({ min: 1 })) call_id!: string;
  @Required(text({ min: 1 })) name!: string;
  @Optional(text()) namespace?: string | null;
  @Required(text()) input!: string;
}

class FunctionCallOutputItem {
  @Optional(identifier()) id?: string;
  @Required(text({ min: 1 })) call_id!: string;
  @Required(blocks) output!: string | ResponsesBlock[];
}

class SummaryPart {
  @Required(text()) text!: string;
}

class ReasoningItem {
  @Optional(identifier()) id?: string;
  @Optional(listOf(object(SummaryPart))) summary?: SummaryPart[];
  @Optional(text()) encrypted_content?: string | null;
}

/** What stands for the turns that were compacted; only its maker can read it. */
class CompactionItem {
  @Optional(identifier()) id?: string | null;
  @Required(text({ min: 1 })) encrypted_content!: string;
}

class ItemReference {
  @Required(identifier()) id!: string;
}

export type ResponsesMessage = { type?: 'message' | null } & MessageItem;
export type ResponsesItem =
  | ResponsesMessage
  | ({ type: 'function_call' } & FunctionCallItem)
  | ({ type: 'custom_tool_call' } & CustomToolCallItem)
  | ({ type: 'function_call_output' | 'custom_tool_call_output' } & FunctionCallOutputItem)
  | ({ type: 'reasoning' } & ReasoningItem)
  | ({ type: 'compaction' } & CompactionItem)
  | ({ type: 'item_reference' } & ItemReference);

/** Content may be null or missing only where tool calls take its place. */
const contentOrCalls: FieldCheck = (value, param, report) => {
  if (!isJsonObject(value) || (value['type'] ?? 'message') !== 'message') return;
  if (value['content'] == null && !(value['role'] === 'assistant' && Array.isArray(value['tool_calls'])))
    report(`${param}.content`, 'missing_parameter', `${param}.content is required.`);
  if (value['role'] === 'tool' && value['tool_call_id'] == null)
    report(
      `${param}.tool_call_id`,
      'missing_parameter',
      `${param}.tool_call_id is required in an item of role "tool".`,
    );
};

/** An item of the `input` array. */
const responsesItem: FieldCheck = all(
  variants(
    {
      message: MessageItem,
      function_call: FunctionCallItem,
      function_call_output: FunctionCallOutputItem,
      custom_tool_call: CustomToolCallItem,
      custom_tool_call_output: FunctionCallOutputItem,
      reasoning: ReasoningItem,
      compaction: CompactionItem,
      item_reference: ItemReference,
    },
    { absent: 'message', others: 'pass-through' },
  ),
  contentOrCalls,
);

/** The types of items that the gateway knows; a message needs none. */
export const ITEM_TYPES: readonly string[] = [
  'message',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'reasoning',
  'compaction',
  'item_reference',
];

/** True when the gateway knows the item's type; others pass only to an upstream of this protocol. */
export const isKnownItem = (item: { readonly type?: string | null }): boolean =>
  item.type == null || ITEM_TYPES.includes(item.type);

/** The form of chat completions, where the function is an object of its own. */
class NestedFunction {
  @Required(text({ min: 1 })) name!: string;
  @Required(text()) description!: string;
  @Optional(jsonObject()) parameters?: JsonObject | null;
  @Optional(flag()) strict?: boolean | null;
}

class NestedFunctionTool {
  @Required(object(NestedFunction)) function!: NestedFunction;
}

/** The flat function form of the native interface, where the description may be missing. */
class FlatFunctionTool {
  @Required(text({ min: 1 })) name!: string;
  @Optional(text()) description?: string | null;
  @Optional(jsonObject()) parameters?: JsonObject | null;
  @Optional(flag()) strict?: boolean | null;
}

class RemoteMcp {
  @Required(webAddress()) url!: string;
  @Optional(text()) auth_token?: string | null;
  /** Seconds the server may take, 30 when not given. */
  @Optional(whole(1)) timeout?: number | null;
}

class RemoteMcpTool {
  @Required(object(RemoteMcp)) remote_mcp!: RemoteMcp;
}

class CustomFormat {
  @Optional(text()) type?: string | null;
  @Optional(text()) syntax?: string | null;
  @Optional(text()) definition?: string | null;
}

/** A tool whose input is a text and no JSON. */
class CustomTool {
  @Required(text({ min: 1 })) name!: string;
  @Optional(text()) description?: string | null;
  @Optional(object(CustomFormat)) format?: CustomFormat | null;
}

/** Tools under a common name, which their calls carry apart. */
class NamespaceTool {
  @Required(text({ min: 1 })) name!: string;
  @Optional(text()) description?: string | null;
  @Required((value, param, report) => listOf(responsesTool)(value, param, report)) tools!: ResponsesTool[];
}

/** A tool that is run for the caller; the vendors of the interface give some of them fields of their own. */
class HostedTool {}

const toolByType = variants(
  {
    function: NestedFunctionTool,
    web_search: HostedTool,
    file_search: HostedTool,
    remote_mcp: RemoteMcpTool,
    custom: CustomTool,
    namespace: NamespaceTool,
  },
  { others: 'pass-through' },
);
const flatFunctionTool = object(FlatFunctionTool);

type ResponsesFunctionTool = { type: 'function' } & (NestedFunctionTool | FlatFunctionTool);
export type ResponsesTool =
  | ResponsesFunctionTool
  | ({ type: 'remote_mcp' } & RemoteMcpTool)
  | ({ type: 'custom' } & CustomTool)
  | ({ type: 'namespace' } & NamespaceTool)
  | { type: 'web_search' | 'file_search' | (string & {}) };

/** An element of `tools` : functions in either form, free-form tools, namespaces of both, and tools the vendor runs itself. */
const responsesTool: FieldCheck = (value, param, report) => {
  const isFlat =
    isJsonObject(value) && value['type'] === 'function' && !isJsonObject(value['function']) && value['name'] != null;
  (isFlat ? flatFunctionTool : toolByType)(value, param, report);
};

/** The flat form of a function tool, whichever form came in. */
export function flatFunction(tool: ResponsesFunctionTool): FlatFunctionTool {
  return 'function' in tool ? tool.function : tool;
}

export const isFunctionTool = (tool: ResponsesTool): tool is ResponsesFunctionTool => tool.type === 'function';
export const isCustomTool = (tool: ResponsesTool): tool is { type: 'custom' } & CustomTool => tool.type === 'custom';
export const isNamespace = (tool: ResponsesTool): tool is { type: 'namespace' } & NamespaceTool =>
  tool.type === 'namespace';
export const isRemoteMcp = (tool: ResponsesTool): tool is { type: 'remote_mcp' } & RemoteMcpTool =>
  tool.type === 'remote_mcp';

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
type ResponsesToolChoice =
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
  @Optional(unsupported('there are no background responses; leave it out or send false.', false))
  background?: false;
  @Optional(unsupported('each request has one reply; send several requests.', 1)) n?: 1;
  @Optional(unsupported('each request has one reply; send several requests.', 1)) best_of?: 1;
  @Optional(unsupported('send the turns in input, or previous_response_id.')) conversation?: never;
  @Optional(unsupported('send the text of the prompt in input.')) prompt?: never;
}
