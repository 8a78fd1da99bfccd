import type { FinishReason, JsonObject, TextEvent, TextUsage } from '#contracts';
import { brokenOff, parseReply } from '../upstream/codec-failures.js';
import { atLeast, reportedUsage } from '../upstream/reported-usage.js';
import type { StreamDecoder } from '../upstream/protocol-codec.js';
import { reportedFailure } from '../upstream/refused-by-upstream.js';
import { ChatCalls, type ChatToolCall } from './chat-calls.js';
import type { EventData } from '../upstream/server-sent-events.js';

/** A part of a content that is no plain text. */
interface ChatPart {
  readonly type?: string;
  readonly text?: string;
  readonly thinking?: readonly { readonly text?: string }[];
}

/** Some vendors write parts, in deltas too. */
type ChatContent = string | readonly ChatPart[] | null | undefined;

/** A message or a delta: the same fields, whole or in pieces. */
interface ChatMessage {
  readonly content?: ChatContent;
  readonly refusal?: string | null;
  /** The two names vendors give to visible reasoning. */
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly tool_calls?: readonly ChatToolCall[] | null;
}

interface ChatUsage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number; readonly image_tokens?: number } | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number } | null;
}

interface ChatReply {
  readonly error?: unknown;
  readonly usage?: ChatUsage | null;
  /** One vendor's place for the usage of a stream. */
  readonly x_groq?: { readonly usage?: ChatUsage | null } | null;
  readonly choices?: readonly {
    /** Another vendor's. */
    readonly usage?: ChatUsage | null;
    readonly index?: number;
    readonly message?: ChatMessage;
    readonly delta?: ChatMessage;
    readonly finish_reason?: string | null;
    /** Some servers say here which stop sequence ended the reply. */
    readonly stop_reason?: string | number | null;
  }[];
}

const FINISH_REASONS: Record<string, FinishReason> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
};

const reportIn = ({ usage, choices, x_groq: other }: ChatReply): ChatUsage | null | undefined =>
  usage ?? choices?.[0]?.usage ?? other?.usage;

function readUsage(usage: ChatUsage): TextUsage | undefined {
  return reportedUsage({
    inputTokens: usage.prompt_tokens ?? 0,
    cachedInputTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
    cacheWriteTokens: 0,
    imageInputTokens: usage.prompt_tokens_details?.image_tokens ?? 0,
    outputTokens: usage.completion_tokens,
    reasoningTokens: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  });
}

const textIn = (content: ChatContent): string | undefined =>
  typeof content === 'string' ? content : content?.map((part) => part.text ?? '').join('');

const thoughtsIn = (content: ChatContent): string | undefined =>
  typeof content === 'string'
    ? undefined
    : content?.flatMap((part) => (part.thinking ?? []).map((thought) => thought.text ?? '')).join('');

/** Reads a chat completions stream. */
export class ChatStreamDecoder implements StreamDecoder {
  readonly #calls = new ChatCalls();
  #reason: FinishReason | undefined;
  #stopSequence: string | undefined;
  #usage: TextUsage | undefined;

  push(data: EventData): readonly TextEvent[] {
    return data === '[DONE]' ? [] : this.read(parseReply(data));
  }

  /** Reads one chunk, or a whole reply, which has the same shape with `message` for `delta`. */
  read(reply: ChatReply): readonly TextEvent[] {
    if (reply.error) throw reportedFailure(reply.error);
    const usage = reportIn(reply);
    if (usage) this.#usage = atLeast(this.#usage, readUsage(usage));
    const choice = reply.choices?.[0];
    if (!choice) return [];
    if (choice.finish_reason) this.#reason = FINISH_REASONS[choice.finish_reason] ?? 'stop';
    if (typeof choice.stop_reason === 'string') this.#stopSequence = choice.stop_reason;
    return this.#readMessage(choice.delta ?? choice.message ?? {});
  }

  end(): readonly TextEvent[] {
    if (this.#reason === undefined) throw brokenOff();
    return [...this.#calls.held(), this.#finish(this.#reason)];
  }

  told(): TextUsage | undefined {
    return this.#usage;
  }

  #readMessage(message: ChatMessage): TextEvent[] {
    const events: TextEvent[] = [];
    const reasoning = message.reasoning_content ?? message.reasoning ?? thoughtsIn(message.content);
    if (reasoning) events.push({ type: 'reasoning', text: reasoning });
    const text = textIn(message.content) || message.refusal;
    if (text) {
      this.#calls.interrupt();
      events.push({ type: 'text', text });
    }
    for (const call of message.tool_calls ?? []) events.push(...this.#calls.read(call));
    return events;
  }

  #finish(sent: FinishReason): TextEvent {
    const usage = this.#usage ? { usage: this.#usage } : {};
    if (sent === 'stop' && this.#calls.some) return { type: 'finish', reason: 'tool-calls', ...usage };
    if (sent === 'stop' && this.#stopSequence !== undefined)
      return { type: 'finish', reason: 'stop-sequence', stopSequence: this.#stopSequence, ...usage };
    return { type: 'finish', reason: sent, ...usage };
  }
}

/** Reads a whole chat completion as the events it would have been. */
export function readChatReply(answer: JsonObject): readonly TextEvent[] {
  const decoder = new ChatStreamDecoder();
  return [...decoder.read(answer), ...decoder.end()];
}
