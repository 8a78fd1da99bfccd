import {
  errorInStyle,
  type FinishEvent,
  type FinishReason,
  type GatewayError,
  type GeminiAnswer,
  type GeminiReplyPart,
  type GeminiRequest,
  type TextEvent,
} from '#contracts';
import { geminiFinishReason, Grounding, writeGeminiUsage } from './write-gemini-answer.js';
import { EVENT_STREAM, JoinedTexts } from '../reply-parts.js';
import { finishedArguments } from '../tool-arguments.js';
import type { ReplyContext, TextStreamEncoder } from '../text-style-codec.js';
import { followsItsCall } from '../chat/chat-reasoning.js';
import { carriedProof } from './carried-reasoning.js';

interface OpenCall {
  readonly id: string;
  readonly name: string;
  json: string;
  /** Of the reasoning that led to it. */
  proof: string | undefined;
}

/** How chunks are put into the body: as server-sent events (`alt=sse`), or as the items of one JSON array. */
export interface GeminiFraming {
  readonly contentType: string;
  chunk(json: string): string;
  /** @param events server-sent events of an upstream. */
  relay(events: Uint8Array): string | Uint8Array;
  end(): string;
  /** @param error the failure as it is inside the stream, `{"error":{...}}`. */
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
  private readonly requestId: string;
  private readonly identity: string;
  private readonly estimatedInputTokens: number;
  private declines = false;
  /** The reasoning since the last part, and what of it is proven. */
  private thought = '';
  private proven: { text: string; signature: string }[] = [];
  private call: OpenCall | undefined;
  private readonly grounding = new Grounding();
  /** The text of the open block, and the text before it. */
  private said = { before: '', block: '' };
  private isInText = false;
  /** Clients put all text of a stream together, whatever part it stands in. */
  private readonly texts = new JoinedTexts();

  constructor(
    context: ReplyContext<GeminiRequest>,
    private readonly framing: GeminiFraming,
  ) {
    this.contentType = framing.contentType;
    this.requestId = context.requestId;
    this.estimatedInputTokens = context.estimatedInputTokens;
    this.identity = `"modelVersion":${JSON.stringify(context.model)},"responseId":${JSON.stringify(context.requestId)}`;
  }

  write(event: TextEvent): string {
    this.isInText &&= event.type === 'text' || event.type === 'citation';
    switch (event.type) {
      case 'refusal':
        this.declines = true;
        return this.closeCall() + this.text(event.text);
      case 'text':
        return this.closeCall() + this.text(event.text);
      case 'reasoning':
        this.thought += event.text;
        return this.closeCall() + this.piece(`{"text":${JSON.stringify(event.text)},"thought":true}`);
      case 'break':
        this.texts.cut();
        return this.closeCall();
      case 'signature':
        return this.sign(event.signature);
      case 'call': {
        const closed = this.closeCall();
        this.call = { id: event.id, name: event.name, json: '', proof: this.proof() };
        return closed;
      }
      case 'arguments':
        if (this.call) this.call.json += event.json;
        return '';
      case 'finish':
        return this.closeCall(event.reason) + this.finish(event);
      default:
        return this.work(event);
    }
  }

  relay(events: Uint8Array): string | Uint8Array {
    return this.framing.relay(events);
  }

  end(): string {
    return this.framing.end();
  }

  heartbeat(): string {
    const usage = { promptTokenCount: this.estimatedInputTokens, totalTokenCount: this.estimatedInputTokens };
    return this.framing.heartbeat(`{"usageMetadata":${JSON.stringify(usage)},${this.identity}}`);
  }

  fail(error: GatewayError): readonly string[] {
    const { error: nested } = errorInStyle('gemini', error, this.requestId);
    return this.framing.fail(JSON.stringify({ error: nested }));
  }

  /** What the end of the stream adds: steps of the gateway's tools, and the sources that the text cites. */
  private work(event: TextEvent): string {
    if (event.type === 'citation') {
      const { before, block } = this.said;
      this.grounding.citation(event.citation, before, block, 0);
    }
    if (event.type !== 'step') return '';
    this.texts.cut();
    this.grounding.step(event.step);
    return this.closeCall();
  }

  private piece(part: string): string {
    const candidate = `{"content":{"role":"model","parts":[${part}]},"index":0}`;
    return this.framing.chunk(`{"candidates":[${candidate}],${this.identity}}`);
  }

  private parts(parts: readonly GeminiReplyPart[]): string {
    return this.piece(parts.map((part) => JSON.stringify(part)).join(','));
  }

  private text(piece: string): string {
    const text = this.texts.add(piece);
    const gap = text.slice(0, text.length - piece.length);
    if (!this.isInText) this.said = { before: this.said.before + this.said.block + gap, block: '' };
    this.said.block += piece;
    this.isInText = true;
    const proof = this.proof();
    return proof === undefined
      ? this.piece(`{"text":${JSON.stringify(text)}}`)
      : this.parts([{ text, thoughtSignature: proof }]);
  }

  /** The proof of the reasoning before a part, which the caller puts on that part. */
  private proof(): string | undefined {
    this.thought = '';
    if (this.proven.length === 0) return undefined;
    const proof = carriedProof(this.proven);
    this.proven = [];
    return proof;
  }

  /** @param end how the reply ended, when it ended with the call. */
  private closeCall(end?: FinishReason): string {
    const call = this.call;
    if (!call) return '';
    this.call = undefined;
    const { id, name, json, proof } = call;
    const args = finishedArguments(json, end);
    if (!args) return '';
    return this.parts([{ functionCall: { id, name, args }, ...(proof !== undefined && { thoughtSignature: proof }) }]);
  }

  private sign(signature: string): string {
    const proven = { text: this.thought, signature };
    this.thought = '';
    if (this.call && this.call.proof === undefined && followsItsCall(signature)) {
      this.call.proof = carriedProof([proven]);
      return '';
    }
    this.proven.push(proven);
    return this.closeCall();
  }

  private finish(finish: FinishEvent): string {
    const proof = this.proof();
    const groundingMetadata = this.grounding.metadata();
    const lastPart = proof === undefined ? { text: '' } : { text: '', thoughtSignature: proof };
    const last: Pick<GeminiAnswer, 'candidates' | 'usageMetadata'> = {
      candidates: [
        {
          content: { role: 'model', parts: [lastPart] },
          finishReason: geminiFinishReason(finish.reason, this.declines),
          index: 0,
          ...(groundingMetadata && { groundingMetadata }),
        },
      ],
      usageMetadata: writeGeminiUsage(finish.usage),
    };
    return this.framing.chunk(`${JSON.stringify(last).slice(0, -1)},${this.identity}}`);
  }
}
