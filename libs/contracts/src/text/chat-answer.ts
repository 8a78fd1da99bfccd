import type { JsonObject } from '../json.js';

export type ChatFinishReason = 'stop' | 'length' | 'tool_calls' | 'function_call' | 'content_filter';

/** Token counts of the chat style. `prompt_tokens` includes cached, `completion_tokens` includes reasoning. */
export interface ChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number; readonly cache_write_tokens: number };
  readonly completion_tokens_details: { readonly reasoning_tokens: number };
}

/** Reasoning with its vendor's proof, in the form that several vendors of this interface give and take it back. */
export type ChatReasoningDetail =
  | { readonly type: 'reasoning.text'; readonly text: string; readonly signature: string; readonly index: number }
  | { readonly type: 'reasoning.encrypted'; readonly data: string; readonly index: number };

/** A call of a reply. `extra_content.google.thought_signature` is where client libraries keep a proof of the reasoning. */
export type ChatReplyCall = (
  | { readonly type: 'function'; readonly function: { readonly name: string; readonly arguments: string } }
  | { readonly type: 'custom'; readonly custom: { readonly name: string; readonly input: string } }
) & { readonly id: string; readonly extra_content?: JsonObject };

/** The native completion object, which `POST /v1/responses` also puts into `data`. Keys without a value are left out. */
export interface ChatAnswer {
  readonly id: string;
  readonly object: 'chat.completion';
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
  readonly choices: readonly {
    readonly index: number;
    readonly message: {
      readonly role: 'assistant';
      readonly content: string | null;
      readonly refusal: string | null;
      readonly reasoning_content?: string;
      readonly reasoning_details?: readonly ChatReasoningDetail[];
      readonly tool_calls?: readonly ChatReplyCall[];
      /** The one call of a reply to a caller that offers `functions`. */
      readonly function_call?: { readonly name: string; readonly arguments: string };
      /** The citations of the content. */
      readonly annotations?: readonly JsonObject[];
    };
    readonly logprobs: null;
    readonly finish_reason: ChatFinishReason;
  }[];
  readonly usage: ChatUsage;
}
