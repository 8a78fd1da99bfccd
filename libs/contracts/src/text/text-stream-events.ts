import type { JsonObject, JsonValue } from '../json.js';
import type {
  MessagesAnswer,
  MessagesReplyBlock,
  MessagesStopReason,
  ResponsesAnswer,
  ResponsesOutputItem,
} from './text-answers.js';

interface InItem {
  readonly item_id: string;
  readonly output_index: number;
}
interface InContent extends InItem {
  readonly content_index: number;
}
interface InSummary extends InItem {
  readonly summary_index: number;
}
type OutputPart = Extract<ResponsesOutputItem, { type: 'message' }>['content'][number];
type SummaryText = Extract<ResponsesOutputItem, { type: 'reasoning' }>['summary'][number];

/** Fields of each event of a responses stream, beyond `type` and `sequence_number`. */
export interface ResponsesStreamEvents {
  readonly 'response.created': { readonly response: ResponsesAnswer };
  readonly 'response.in_progress': { readonly response: ResponsesAnswer };
  readonly 'response.completed': { readonly response: ResponsesAnswer };
  readonly 'response.incomplete': { readonly response: ResponsesAnswer };
  readonly 'response.output_item.added': { readonly output_index: number; readonly item: ResponsesOutputItem };
  readonly 'response.output_item.done': { readonly output_index: number; readonly item: ResponsesOutputItem };
  readonly 'response.content_part.added': InContent & { readonly part: OutputPart };
  readonly 'response.content_part.done': InContent & { readonly part: OutputPart };
  readonly 'response.output_text.delta': InContent & {
    readonly delta: string;
    readonly logprobs: readonly JsonValue[];
  };
  readonly 'response.output_text.done': InContent & { readonly text: string; readonly logprobs: readonly JsonValue[] };
  readonly 'response.output_text.annotation.added': InContent & {
    readonly annotation_index: number;
    readonly annotation: JsonObject;
  };
  readonly 'response.refusal.delta': InContent & { readonly delta: string };
  readonly 'response.refusal.done': InContent & { readonly refusal: string };
  readonly 'response.function_call_arguments.delta': InItem & { readonly delta: string };
  readonly 'response.function_call_arguments.done': InItem & { readonly name: string; readonly arguments: string };
  readonly 'response.custom_tool_call_input.delta': InItem & { readonly delta: string };
  readonly 'response.custom_tool_call_input.done': InItem & { readonly input: string };
  readonly 'response.reasoning_summary_part.added': InSummary & { readonly part: SummaryText };
  readonly 'response.reasoning_summary_part.done': InSummary & { readonly part: SummaryText };
  readonly 'response.reasoning_summary_text.delta': InSummary & { readonly delta: string };
  readonly 'response.reasoning_summary_text.done': InSummary & { readonly text: string };
}

/** An event of a messages stream. Blocks never interleave; indexes count from 0. */
export type MessagesStreamEvent =
  | { readonly type: 'message_start'; readonly message: MessagesAnswer }
  | { readonly type: 'ping' }
  | { readonly type: 'content_block_start'; readonly index: number; readonly content_block: MessagesReplyBlock }
  | {
      readonly type: 'content_block_delta';
      readonly index: number;
      readonly delta:
        | { readonly type: 'text_delta'; readonly text: string }
        | { readonly type: 'citations_delta'; readonly citation: JsonObject }
        | { readonly type: 'input_json_delta'; readonly partial_json: string }
        | { readonly type: 'thinking_delta'; readonly thinking: string }
        | { readonly type: 'signature_delta'; readonly signature: string };
    }
  | { readonly type: 'content_block_stop'; readonly index: number }
  | {
      readonly type: 'message_delta';
      readonly delta: { readonly stop_reason: MessagesStopReason; readonly stop_sequence: string | null };
      readonly usage: MessagesAnswer['usage'];
    }
  | { readonly type: 'message_stop' };
