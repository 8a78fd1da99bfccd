import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { anything, type FieldCheck, Optional, Required } from './body-check.js';
import {
  all,
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
import { base64Data, IMAGE_MEDIA_TYPES, webAddress } from './image-checks.js';

class UrlSource {
  @Required(webAddress()) url!: string;
}

class Base64Image {
  @Required(choice(IMAGE_MEDIA_TYPES)) media_type!: (typeof IMAGE_MEDIA_TYPES)[number];
  @Required(base64Data()) data!: string;
}

class Base64Document {
  @Required(choice(['application/pdf'])) media_type!: 'application/pdf';
  @Required(base64Data()) data!: string;
}

class TextSource {
  @Required(text()) data!: string;
}

class TextBlock {
  @Required(text()) text!: string;
}

class ImageBlock {
  @Required(variants({ url: UrlSource, base64: Base64Image }, { others: 'pass-through' })) source!:
    ({ type: 'url' } & UrlSource) | ({ type: 'base64' } & Base64Image) | { type: 'file' };
}

class Citations {
  @Optional(flag()) enabled?: boolean | null;
}

/** A document that its caller put together. */
class ContentSource {
  @Required(
    stringOr(
      listOf(variants({ text: TextBlock, image: ImageBlock }, { others: 'pass-through' })),
      'an array of text and image blocks',
    ),
  )
  content!: string | (({ type: 'text' } & TextBlock) | ({ type: 'image' } & ImageBlock))[];
}

const documentSource = variants(
  { url: UrlSource, base64: Base64Document, text: TextSource, content: ContentSource },
  { others: 'pass-through' },
);

class DocumentBlock {
  @Required(documentSource) source!:
    | ({ type: 'url' } & UrlSource)
    | ({ type: 'base64' } & Base64Document)
    | ({ type: 'text' } & TextSource)
    | ({ type: 'content' } & ContentSource)
    | { type: 'file' };
  @Optional(text()) title?: string | null;
  @Optional(text()) context?: string | null;
  @Optional(object(Citations)) citations?: Citations | null;
}

/** A passage that was found, with where it stands. */
class SearchResultBlock {
  @Required(text()) source!: string;
  @Required(text()) title!: string;
  @Required(listOf(variants({ text: TextBlock }))) content!: ({ type: 'text' } & TextBlock)[];
  @Optional(object(Citations)) citations?: Citations | null;
}

class ToolReferenceBlock {
  @Required(text({ min: 1 })) tool_name!: string;
}

class ToolUseBlock {
  @Required(text({ min: 1 })) id!: string;
  @Required(text({ min: 1 })) name!: string;
  @Required(jsonObject()) input!: JsonObject;
}

const resultBlock = variants(
  {
    text: TextBlock,
    image: ImageBlock,
    document: DocumentBlock,
    search_result: SearchResultBlock,
    tool_reference: ToolReferenceBlock,
  },
  { others: 'pass-through' },
);

class ToolResultBlock {
  @Required(text({ min: 1 })) tool_use_id!: string;
  @Optional(stringOr(listOf(resultBlock), 'an array of text and image blocks')) content?:
    | string
    | (
        | ({ type: 'text' } & TextBlock)
        | ({ type: 'image' } & ImageBlock)
        | ({ type: 'document' } & DocumentBlock)
        | ({ type: 'search_result' } & SearchResultBlock)
        | ({ type: 'tool_reference' } & ToolReferenceBlock)
      )[];
  @Optional(flag()) is_error?: boolean;
}

class ThinkingBlock {
  @Required(text()) thinking!: string;
  @Optional(text()) signature?: string;
}

class RedactedThinkingBlock {
  @Required(text()) data!: string;
}

export type MessagesImageBlock = { type: 'image' } & ImageBlock;
export type MessagesDocumentBlock = { type: 'document' } & DocumentBlock;
export type MessagesSearchResultBlock = { type: 'search_result' } & SearchResultBlock;
export type MessagesBlock =
  | ({ type: 'text' } & TextBlock)
  | MessagesImageBlock
  | MessagesDocumentBlock
  | MessagesSearchResultBlock
  | ({ type: 'tool_reference' } & ToolReferenceBlock)
  | ({ type: 'tool_use' } & ToolUseBlock)
  | ({ type: 'tool_result' } & ToolResultBlock)
  | ({ type: 'thinking' } & ThinkingBlock)
  | ({ type: 'redacted_thinking' } & RedactedThinkingBlock);

/** A content block of a message. Types that are not listed here pass only to an upstream of this protocol. */
const messagesBlock: FieldCheck = variants(
  {
    text: TextBlock,
    image: ImageBlock,
    document: DocumentBlock,
    search_result: SearchResultBlock,
    tool_use: ToolUseBlock,
    tool_result: ToolResultBlock,
    thinking: ThinkingBlock,
    redacted_thinking: RedactedThinkingBlock,
  },
  { others: 'pass-through' },
);

/** What a request of another style that names no limit is written with. */
export const DEFAULT_MAX_TOKENS = 4096;

class Message {
  /** Newer client libraries also type `system` here. */
  @Required(choice(['user', 'assistant', 'system'])) role!: 'user' | 'assistant' | 'system';
  @Required(stringOr(listOf(messagesBlock), 'an array of content blocks')) content!: string | MessagesBlock[];
}

class SystemBlock {
  @Required(text()) text!: string;
}

class Metadata {
  @Optional(text()) user_id?: string | null;
}

class CustomTool {
  @Required(text({ min: 1 })) name!: string;
  @Optional(text()) description?: string;
  @Required(jsonObject()) input_schema!: JsonObject;
  @Optional(flag()) strict?: boolean | null;
}

/** `computer_20241022`, `text_editor_20241022`, `bash_20241022` and their successors: the vendor knows their schema. */
class VendorTool {
  @Optional(text({ min: 1 })) name?: string;
}

export type MessagesTool = ({ type?: 'custom' | null } & CustomTool) | ({ type: string } & VendorTool);

const tool: FieldCheck = (value, param, report) => {
  const custom = isJsonObject(value) && (value['type'] == null || value['type'] === 'custom');
  object(custom ? CustomTool : VendorTool)(value, param, report);
  if (!custom && isJsonObject(value)) text({ min: 1 })(value['type'], `${param}.type`, report);
};

class AnyChoice {
  @Optional(flag()) disable_parallel_tool_use?: boolean;
}

class ToolChoice extends AnyChoice {
  @Required(text({ min: 1 })) name!: string;
}

type MessagesToolChoice = ({ type: 'auto' | 'any' | 'none' } & AnyChoice) | ({ type: 'tool' } & ToolChoice);

class ShownThinking {
  /** `omitted`: think, and send the proof alone. */
  @Optional(text()) display?: string | null;
}

class EnabledThinking extends ShownThinking {
  @Optional(tokens()) budget_tokens?: number;
}

class NoOptions {}

/** No conversation is kept; client libraries know the code, and send all of its messages again. */
const lostThread: FieldCheck = (_value, _param, report) =>
  report('thread', 'thread_not_found', 'thread: no conversation is kept for later requests; send all of its messages.');

class ContinuedThread {
  @Required(all(text({ min: 1 }), lostThread)) previous_message_id!: string;
}

class JsonSchemaFormat {
  @Required(jsonObject()) schema!: JsonObject;
}

const outputFormat = variants({ json_schema: JsonSchemaFormat });

class OutputConfig {
  @Optional(outputFormat) format?: { type: 'json_schema' } & JsonSchemaFormat;
  @Optional(choice(['low', 'medium', 'high', 'xhigh', 'max'])) effort?: string;
}

/** Body of `POST /v1/messages`, with the native fields that client libraries send. Unknown fields are left alone. */
export class MessagesRequest {
  /** First, so that its word is the one said: what continues a conversation may send no message at all. */
  @Optional(variants({ create: NoOptions, continue: ContinuedThread })) thread?: { type: 'create' };
  @Required(text({ min: 1 })) model!: string;
  @Required(listOf(object(Message), { min: 1 })) messages!: Message[];
  @Optional(tokens()) max_tokens?: number;
  @Optional(stringOr(listOf(variants({ text: SystemBlock })), 'an array of text blocks')) system?:
    string | ({ type: 'text' } & SystemBlock)[];
  @Optional(number(0, 1)) temperature?: number;
  @Optional(number(0, 1)) top_p?: number;
  @Optional(whole(0)) top_k?: number;
  @Optional(flag()) stream?: boolean;
  @Optional(listOf(text(), { max: 4 })) stop_sequences?: string[];
  @Optional(object(Metadata)) metadata?: Metadata;
  @Optional(listOf(tool)) tools?: MessagesTool[];
  @Optional(variants({ auto: AnyChoice, any: AnyChoice, none: NoOptions, tool: ToolChoice }))
  tool_choice?: MessagesToolChoice;
  @Optional(
    variants({ enabled: EnabledThinking, adaptive: ShownThinking, disabled: NoOptions }, { others: 'pass-through' }),
  )
  thinking?: ({ type: 'enabled' } & EnabledThinking) | ({ type: 'adaptive' } & ShownThinking) | { type: 'disabled' };
  @Optional(object(OutputConfig)) output_config?: OutputConfig;
  /** The older name of `output_config.format`. */
  @Optional(outputFormat) output_format?: { type: 'json_schema' } & JsonSchemaFormat;
  @Optional(text()) service_tier?: string;
  /** Asks for nothing but a summary of the conversation, which only its vendor can read. */
  @Optional(jsonObject()) compaction?: JsonObject | null;
  @Optional(anything) container?: JsonValue;
  @Optional(listOf(jsonObject())) mcp_servers?: JsonObject[];
}

/** Body of `POST /v1/messages/count_tokens`: a message request of which only the input matters. */
export class CountTokensRequest extends MessagesRequest {}
