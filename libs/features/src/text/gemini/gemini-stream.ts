import {
  errorInStyle,
  type FinishEvent,
  type GatewayError,
  type GeminiAnswer,
  type GeminiReplyPart,
  type GeminiRequest,
  type TextEvent,
} from '#contracts';
import { EVENT_STREAM } from '../server-sent-event.js';
import { parsedArguments } from '../parsed-arguments.js';
import type { ReplyContext, TextStreamEncoder } from '../text-style-codec.js';
import { geminiFinishReason, writeGeminiUsage } from './write-gemini-answer.js';

interface OpenCall {
  readonly id: string;
  readonly name: string;
  json: string;
}

/** How chunks are put into the body: as server-sent events (`alt=sse`), or as the items of one JSON array. */
export interface GeminiFraming {
  readonly contentType: string;
  chunk(json: string): string;
  /** @param events server-sent events of an upstream. */
  relay(events: Uint8Array): string | Uint8Array;
  end(): string;
  /** @param error the failure as it stands inside the stream, `{"error":{...}}`. */
  fail(error: string): readonly string[];
  /** @param json a chunk without candidates. */
  heartbeat(json: string): string;
}

/** Clients split on exactly `data: ` and an empty line; comments, event names and `[DONE]` break some of them. */
export function eventFraming(): GeminiFraming {
  const chunk = (json: string): string => `data: ${json}\r\n\r\n`;
  return {
    contentType: EVENT_STREAM,
    chunk,
    relay: (events) => events,
    end: () => '',
    // Newer client libraries read the event, older ones only a bare object that comes as a piece of its own.
    fail: (error) => [chunk(error), error],
    heartbeat: chunk,
  };
}

/** The data of whole server-sent events. */
const dataOf = (events: Uint8Array): string[] =>
  Buffer.from(events.buffer, events.byteOffset, events.length)
    .toString('utf8')
    .split(/\r?\n\r?\n/)
    .filter((event) => event.startsWith('data:'))
    .map((event) => event.slice(5).trim());

/** The form without `alt=sse`. */
export function arrayFraming(): GeminiFraming {
  let separator = '[';
  const chunk = (json: string): string => {
    const text = separator + json;
    separator = ',\r\n';
    return text;
  };
  return {
    contentType: 'application/json; charset=utf-8',
    chunk,
    relay: (events) => dataOf(events).map(chunk).join(''),
    end: () => (separator === '[' ? '[]' : ']'),
    fail: (error) => [`${chunk(error)}]`],
    heartbeat: () => (separator === '[' ? ' ' : '\n'),
  };
}

/** Writes a reply as a content-generation stream. Calls go out whole, because their arguments are objects here. */
export class GeminiStream implements TextStreamEncoder {
  readonly contentType: string;
  readonly #framing: GeminiFraming;
  readonly #requestId: string;
  readonly #identity: string;
  readonly #estimatedInputTokens: number;
  #call: OpenCall | undefined;

  constructor(context: ReplyContext<GeminiRequest>, framing: GeminiFraming) {
    this.#framing = framing;
    this.contentType = framing.contentType;
    this.#requestId = context.requestId;
    this.#estimatedInputTokens = context.estimatedInputTokens;
    this.#identity = `"modelVersion":${JSON.stringify(context.model)},"responseId":${JSON.stringify(context.requestId)}`;
  }

  write(event: TextEvent): string {
    switch (event.type) {
      case 'text':
        return this.#closeCall() + this.#piece(`{"text":${JSON.stringify(event.text)}}`);
      case 'reasoning':
        return this.#closeCall() + this.#piece(`{"text":${JSON.stringify(event.text)},"thought":true}`);
      case 'signature':
        return this.#closeCall() + this.#parts([{ text: '', thought: true, thoughtSignature: event.signature }]);
      case 'call': {
        const closed = this.#closeCall();
        this.#call = { id: event.id, name: event.name, json: '' };
        return closed;
      }
      case 'arguments':
        if (this.#call) this.#call.json += event.json;
        return '';
      case 'finish':
        return this.#closeCall() + this.#finish(event);
      default:
        return '';
    }
  }

  relay(events: Uint8Array): string | Uint8Array {
    return this.#framing.relay(events);
  }

  end(): string {
    return this.#framing.end();
  }

  heartbeat(): string {
    const usage = { promptTokenCount: this.#estimatedInputTokens, totalTokenCount: this.#estimatedInputTokens };
    return this.#framing.heartbeat(`{"usageMetadata":${JSON.stringify(usage)},${this.#identity}}`);
  }

  fail(error: GatewayError): readonly string[] {
    const { error: nested } = errorInStyle('gemini', error, this.#requestId);
    return this.#framing.fail(JSON.stringify({ error: nested }));
  }

  #piece(part: string): string {
    const candidate = `{"content":{"role":"model","parts":[${part}]},"index":0}`;
    return this.#framing.chunk(`{"candidates":[${candidate}],${this.#identity}}`);
  }

  #parts(parts: readonly GeminiReplyPart[]): string {
    return this.#piece(parts.map((part) => JSON.stringify(part)).join(','));
  }

  #closeCall(): string {
    const call = this.#call;
    if (!call) return '';
    this.#call = undefined;
    return this.#parts([{ functionCall: { id: call.id, name: call.name, args: parsedArguments(call.json) } }]);
  }

  #finish(finish: FinishEvent): string {
    const last: Pick<GeminiAnswer, 'candidates' | 'usageMetadata'> = {
      candidates: [
        {
          content: { role: 'model', parts: [{ text: '' }] },
          finishReason: geminiFinishReason(finish.reason),
          index: 0,
        },
      ],
      usageMetadata: writeGeminiUsage(finish.usage),
    };
    return this.#framing.chunk(`${JSON.stringify(last).slice(0, -1)},${this.#identity}}`);
  }
}
