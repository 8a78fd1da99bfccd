import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { anything, Optional, Required, type FieldCheck } from './body-check.js';
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
import { messagesBlock, type MessagesBlock } from './messages-blocks.js';

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

export type MessagesToolChoice = ({ type: 'auto' | 'any' | 'none' } & AnyChoice) | ({ type: 'tool' } & ToolChoice);

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
