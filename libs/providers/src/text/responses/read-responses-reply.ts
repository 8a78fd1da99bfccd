import type { FinishReason, JsonObject, TextEvent, TextUsage } from '#contracts';
import { brokenOff, parseReply, reportedFailure } from '../upstream/codec-failures.js';
import { reportedUsage } from '../upstream/reported-usage.js';
import type { StreamDecoder } from '../upstream/protocol-codec.js';
import type { EventData } from '../upstream/server-sent-events.js';
import { markSignature } from '../upstream/signatures.js';

interface Item {
  readonly type: string;
  readonly content?: readonly { readonly text?: string; readonly refusal?: string }[];
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly summary?: readonly { readonly text?: string }[];
  readonly encrypted_content?: string | null;
}

interface Response {
  readonly status?: string;
  readonly output?: readonly Item[];
  readonly error?: unknown;
  readonly incomplete_details?: { readonly reason?: string } | null;
  readonly usage?: {
    readonly input_tokens?: number;
    readonly input_tokens_details?: { readonly cached_tokens?: number };
    readonly output_tokens?: number;
    readonly output_tokens_details?: { readonly reasoning_tokens?: number };
  } | null;
}

interface StreamEvent {
  readonly type: string;
  readonly delta?: string;
  readonly output_index?: number;
  readonly item?: Item;
  readonly response?: Response;
  readonly error?: unknown;
}

function readUsage(usage: Response['usage']): TextUsage | undefined {
  if (!usage) return undefined;
  return reportedUsage({
    inputTokens: usage.input_tokens ?? 0,
    cachedInputTokens: usage.input_tokens_details?.cached_tokens ?? 0,
    cacheWriteTokens: 0,
    imageInputTokens: 0,
    outputTokens: usage.output_tokens,
    reasoningTokens: usage.output_tokens_details?.reasoning_tokens ?? 0,
  });
}

function finishReason(response: Response, called: boolean): FinishReason {
  if (response.incomplete_details?.reason === 'max_output_tokens') return 'length';
  if (response.incomplete_details?.reason === 'content_filter') return 'content-filter';
  return called ? 'tool-calls' : 'stop';
}

function finishEvent(response: Response, called: boolean): TextEvent {
  const usage = readUsage(response.usage);
  return { type: 'finish', reason: finishReason(response, called), ...(usage ? { usage } : {}) };
}

/** The events that come once a token, under every name servers give them. */
const DELTAS: Readonly<Record<string, (delta: string) => TextEvent>> = {
  'response.output_text.delta': (text) => ({ type: 'text', text }),
  'response.refusal.delta': (text) => ({ type: 'text', text }),
  'response.reasoning_summary_text.delta': (text) => ({ type: 'reasoning', text }),
  'response.reasoning_text.delta': (text) => ({ type: 'reasoning', text }),
  'response.reasoning.delta': (text) => ({ type: 'reasoning', text }),
  'response.function_call_arguments.delta': (json) => ({ type: 'arguments', json }),
};

/** Reads a responses stream. */
export class ResponsesStreamDecoder implements StreamDecoder {
  #called = false;
  /** Whether the open call has sent any piece of its arguments. */
  #argumentsSeen = false;
  #response: Response | undefined;

  push(data: EventData): readonly TextEvent[] {
    if (data === '[DONE]') return [];
    const event = parseReply(data) as JsonObject & StreamEvent;
    const delta = DELTAS[event.type];
    if (!delta) return this.#readStep(event);
    const read = delta(event.delta ?? '');
    if (read.type === 'arguments') this.#argumentsSeen = true;
    return [read];
  }

  #readStep(event: StreamEvent): readonly TextEvent[] {
    switch (event.type) {
      case 'response.output_item.added':
        return this.#openItem(event.item);
      case 'response.output_item.done':
        return this.#closeItem(event.item);
      case 'response.completed':
      case 'response.incomplete':
        this.#response = event.response ?? {};
        return [];
      case 'response.failed':
        throw reportedFailure(event.response?.error);
      case 'error':
        throw reportedFailure(event.error ?? event);
      default:
        return [];
    }
  }

  end(): readonly TextEvent[] {
    if (!this.#response) throw brokenOff();
    const called = this.#called || (this.#response.output ?? []).some((item) => item.type === 'function_call');
    return [finishEvent(this.#response, called)];
  }

  #openItem(item: Item | undefined): TextEvent[] {
    if (item?.type !== 'function_call') return [];
    this.#called = true;
    this.#argumentsSeen = false;
    return [{ type: 'call', id: item.call_id ?? '', name: item.name ?? '' }];
  }

  #closeItem(item: Item | undefined): TextEvent[] {
    if (item?.type === 'function_call' && !this.#argumentsSeen)
      return [{ type: 'arguments', json: item.arguments ?? '' }];
    if (item?.type !== 'reasoning' || !item.encrypted_content) return [];
    return [{ type: 'signature', signature: markSignature('responses', item.encrypted_content) }];
  }
}

function readItem(item: Item): TextEvent[] {
  switch (item.type) {
    case 'message':
      return (item.content ?? []).map((part) => ({ type: 'text', text: part.text ?? part.refusal ?? '' }));
    case 'function_call':
      return [
        { type: 'call', id: item.call_id ?? '', name: item.name ?? '' },
        { type: 'arguments', json: item.arguments ?? '' },
      ];
    case 'reasoning': {
      const text = (item.summary ?? []).map((part) => part.text ?? '').join('\n\n');
      const proof = item.encrypted_content;
      return [
        ...(text === '' ? [] : [{ type: 'reasoning' as const, text }]),
        ...(proof ? [{ type: 'signature' as const, signature: markSignature('responses', proof) }] : []),
      ];
    }
    default:
      return [];
  }
}

/** Reads a whole response as the events it would have been. */
export function readResponsesReply(answer: JsonObject): readonly TextEvent[] {
  const response = answer as Response;
  if (response.status === 'failed' || response.error) throw reportedFailure(response.error);
  const output = response.output ?? [];
  const called = output.some((item) => item.type === 'function_call');
  return [...output.flatMap(readItem), finishEvent(response, called)];
}
