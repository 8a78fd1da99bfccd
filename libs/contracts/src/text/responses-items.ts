import { isJsonObject } from '../json.js';
import { AudioPart } from './audio-part.js';
import { Optional, Required, type FieldCheck } from './body-check.js';
import { all, choice, listOf, object, stringOr, text, variants } from './field-checks.js';
import { identifier } from './identifier.js';
import { imageAddress, inlineFile, webAddress } from './image-checks.js';

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
export const responsesItem: FieldCheck = all(
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

const KNOWN_TYPES: readonly (string | undefined | null)[] = [
  undefined,
  null,
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
export const isKnownItem = (item: { readonly type?: string | null }): boolean => KNOWN_TYPES.includes(item.type);
