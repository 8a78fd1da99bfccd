import type { JsonObject, JsonValue } from '../json.js';

/** Token counts of the responses style. `input_tokens` includes cached, `output_tokens` includes reasoning. */
export interface ResponsesUsage {
  readonly input_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens: number; readonly cache_write_tokens: number };
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly reasoning_tokens: number };
  readonly total_tokens: number;
}

/** A part of a message: words, or words with which the model declines. */
export type ResponsesOutputPart =
  | {
      readonly type: 'output_text';
      readonly text: string;
      readonly annotations: readonly JsonValue[];
      readonly logprobs: readonly JsonValue[];
    }
  | { readonly type: 'refusal'; readonly refusal: string };

/** How far the work of an item is. */
type WorkStatus = 'in_progress' | 'completed' | 'failed';

/** Work that the gateway did between two words of the model. */
export type ResponsesHostedItem =
  | {
      readonly id: string;
      readonly type: 'file_search_call';
      readonly status: WorkStatus;
      readonly queries: readonly string[];
      /** Null unless `include` asks for them. */
      readonly results: readonly JsonObject[] | null;
    }
  | {
      readonly id: string;
      readonly type: 'web_search_call';
      readonly status: WorkStatus;
      readonly action: JsonObject;
      readonly results?: readonly JsonObject[];
    }
  | {
      readonly id: string;
      readonly type: 'mcp_list_tools';
      readonly server_label: string;
      readonly tools: readonly JsonObject[];
      readonly error: string | null;
    }
  | {
      readonly id: string;
      readonly type: 'mcp_call';
      readonly status: WorkStatus;
      readonly server_label: string;
      readonly name: string;
      readonly arguments: string;
      readonly output: string | null;
      readonly error: string | null;
      readonly approval_request_id: string | null;
    }
  | {
      readonly id: string;
      readonly type: 'mcp_approval_request';
      readonly server_label: string;
      readonly name: string;
      readonly arguments: string;
    };

/** An element of `output`. Each has an id, because strict readers refuse one without. */
export type ResponsesOutputItem =
  | ResponsesHostedItem
  | {
      readonly id: string;
      readonly type: 'message';
      readonly status: 'completed' | 'in_progress';
      readonly role: 'assistant';
      readonly content: readonly ResponsesOutputPart[];
    }
  | {
      readonly id: string;
      readonly type: 'function_call';
      readonly status: 'completed' | 'in_progress';
      readonly call_id: string;
      readonly name: string;
      readonly namespace?: string;
      readonly arguments: string;
    }
  | {
      readonly id: string;
      readonly type: 'custom_tool_call';
      readonly status: 'completed' | 'in_progress';
      readonly call_id: string;
      readonly name: string;
      readonly namespace?: string;
      /** A text, not JSON. */
      readonly input: string;
    }
  | {
      readonly id: string;
      readonly type: 'reasoning';
      readonly summary: readonly { readonly type: 'summary_text'; readonly text: string }[];
      readonly encrypted_content?: string;
    };

/** What ends with the stream: set by the encoder, everything else echoes the request. */
export interface ResponsesOutcome {
  readonly status: 'completed' | 'incomplete' | 'in_progress';
  readonly output: readonly ResponsesOutputItem[];
  readonly usage: ResponsesUsage | null;
  readonly incomplete_details: { readonly reason: 'max_output_tokens' | 'content_filter' | 'max_tool_calls' } | null;
  readonly completed_at: number | null;
}

/** The native response object. `created_at` and `completed_at` are Unix seconds. */
export interface ResponsesAnswer extends ResponsesOutcome {
  readonly id: string;
  readonly object: 'response';
  readonly created_at: number;
  readonly model: string;
  readonly background: false;
  readonly error: null;
  readonly instructions: string | null;
  readonly max_output_tokens: number | null;
  readonly max_tool_calls: number | null;
  readonly parallel_tool_calls: boolean;
  readonly previous_response_id: string | null;
  readonly prompt_cache_key: string | null;
  readonly reasoning: { readonly effort: string | null; readonly summary: string | null };
  readonly safety_identifier: string | null;
  readonly service_tier: string;
  readonly store: boolean;
  readonly temperature: number;
  readonly text: JsonObject;
  readonly tool_choice: JsonValue;
  readonly tools: readonly JsonObject[];
  readonly top_logprobs: number;
  readonly top_p: number;
  readonly presence_penalty: number;
  readonly frequency_penalty: number;
  readonly truncation: string;
  readonly user: string | null;
  readonly metadata: JsonObject;
}

/** The shape of a chat completion, in which `POST /v1/responses` repeats the reply under `data`. */
export interface SpecifiedResponse {
  readonly id: string;
  readonly object: 'response';
  readonly created: number;
  readonly model: string;
  readonly choices: readonly {
    readonly index: number;
    readonly message: {
      readonly role: 'assistant';
      readonly content: string | null;
      readonly tool_calls?: readonly {
        readonly id: string;
        readonly type: 'function';
        readonly function: { readonly name: string; readonly arguments: string };
      }[];
    };
    readonly finish_reason: 'stop' | 'length' | 'content_filter' | 'tool_calls';
  }[];
  readonly usage: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly total_tokens: number;
  };
}

/** Token counts of the messages style: `input_tokens` leaves cached tokens out, the three add up. */
export interface MessagesUsage {
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly thinking_tokens: number };
  /** The searches of the web that the gateway made. */
  readonly server_tool_use?: { readonly web_search_requests: number };
}

/** A call of a tool that the gateway ran, and its result. */
export type MessagesHostedBlock =
  | { readonly type: 'server_tool_use'; readonly id: string; readonly name: string; readonly input: JsonObject }
  | {
      readonly type: 'mcp_tool_use';
      readonly id: string;
      readonly name: string;
      readonly server_name: string;
      readonly input: JsonObject;
    }
  | {
      readonly type: 'web_search_tool_result' | 'file_search_tool_result';
      readonly tool_use_id: string;
      /** What was found, or the error that was met. */
      readonly content: readonly JsonObject[] | JsonObject;
    }
  | {
      readonly type: 'mcp_tool_result';
      readonly tool_use_id: string;
      readonly is_error: boolean;
      readonly content: readonly JsonObject[];
    };

/** A block of a message. Keys a client library may not see as null are left out. */
export type MessagesReplyBlock =
  | MessagesHostedBlock
  | { readonly type: 'text'; readonly text: string; readonly citations?: readonly JsonObject[] }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: JsonObject }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string };

export type MessagesStopReason = 'end_turn' | 'max_tokens' | 'stop_sequence' | 'tool_use' | 'refusal' | 'pause_turn';

/** The native message object, which `data` repeats as it is. */
export interface MessagesAnswer {
  readonly id: string;
  readonly type: 'message';
  readonly role: 'assistant';
  readonly model: string;
  readonly content: readonly MessagesReplyBlock[];
  readonly stop_reason: MessagesStopReason | null;
  readonly stop_sequence: string | null;
  readonly usage: MessagesUsage;
}

interface GeminiSafetyRating {
  readonly category: string;
  readonly probability: string;
}

export type GeminiReplyPart =
  | { readonly text: string; readonly thought?: true; readonly thoughtSignature?: string }
  | {
      readonly functionCall: { readonly id: string; readonly name: string; readonly args: JsonObject };
      readonly thoughtSignature?: string;
    };

export type GeminiFinishReason = 'STOP' | 'MAX_TOKENS' | 'SAFETY' | 'TOO_MANY_TOOL_CALLS';

/** Token counts. `candidatesTokenCount` leaves `thoughtsTokenCount` out. */
export interface GeminiUsage {
  readonly promptTokenCount: number;
  readonly candidatesTokenCount: number;
  readonly totalTokenCount: number;
  readonly thoughtsTokenCount: number;
  readonly cachedContentTokenCount?: number;
  readonly promptTokensDetails: readonly { readonly modality: 'TEXT' | 'IMAGE'; readonly tokenCount: number }[];
}

/** The native answer, which `data` repeats as it is. */
export interface GeminiAnswer {
  readonly candidates: readonly {
    readonly content: { readonly role: 'model'; readonly parts: readonly GeminiReplyPart[] };
    readonly finishReason?: GeminiFinishReason;
    /** The sources of the answer, where something was searched. */
    readonly groundingMetadata?: JsonObject;
    readonly index: number;
    readonly safetyRatings?: readonly GeminiSafetyRating[];
  }[];
  readonly promptFeedback?: { readonly safetyRatings: readonly GeminiSafetyRating[] };
  readonly usageMetadata?: GeminiUsage;
  readonly modelVersion: string;
  readonly responseId: string;
}

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
