import { type FinishReason, isJsonObject, type JsonObject, REDACTED, type TextEvent, type TextUsage } from '#contracts';
import { CitedPages } from '../upstream/cited-pages.js';
import { brokenOff, parseReply } from '../upstream/codec-failures.js';
import type { StreamDecoder } from '../upstream/protocol-codec.js';
import { reportedFailure } from '../upstream/refused-by-upstream.js';
import { laterUsage, countsIn, reportedUsage, sumOf } from '../upstream/reported-usage.js';
import { DONE, type EventData } from '../upstream/server-sent-events.js';
import { markSignature } from '../upstream/signatures.js';

/** The texts of one reply. Text blocks that follow each other are pieces of one text, cut where a citation belongs to them. */
class MessagesText {
  readonly #pages = new CitedPages();
  /** What has been said of the open text in blocks before this one, in UTF-16 units. */
  #before = 0;
  #block = '';
  #citations: unknown[] = [];
  #isCut = false;

  /** A block of another kind begins, also one that other styles do not have: what is said behind it is another text. */
  cut(): void {
    this.#isCut = this.#before > 0;
  }

  add(text: string | undefined): TextEvent[] {
    if (!text) return [];
    const apart: TextEvent[] = this.#isCut ? [{ type: 'break' }] : [];
    if (this.#isCut) this.#before = 0;
    this.#isCut = false;
    this.#block += text;
    return [...apart, { type: 'text', text }];
  }

  /** A vendor that searches the web by itself cites unasked, in front of the words or behind them. */
  cite(citations: unknown): void {
    if (Array.isArray(citations)) this.#citations.push(...(citations as readonly unknown[]));
  }

  /** The block is over: its citations are about all of it. */
  close(): TextEvent[] {
    const { length } = this.#block;
    const annotations = this.#citations.map((citation) => annotationOf(citation, length));
    const cited = length > 0 ? this.#pages.read([{ text: this.#block, annotations }], this.#before) : [];
    this.#before += length;
    this.#block = '';
    this.#citations = [];
    return cited;
  }
}

/** Where each kind of citation has the address of a page; those of documents are asked for in this style alone. */
const ADDRESS: Readonly<Record<string, string>> = {
  web_search_result_location: 'url',
  search_result_location: 'source',
};

function annotationOf(citation: unknown, end: number): unknown {
  if (!isJsonObject(citation)) return undefined;
  const { type, title, cited_text: content } = citation;
  const url = citation[ADDRESS[String(type)] ?? ''];
  return { type: 'url_citation', url, title, content, start_index: 0, end_index: end };
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly data?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: JsonObject;
  readonly citations?: unknown;
}

interface Usage {
  readonly input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly output_tokens_details?: { readonly thinking_tokens?: number } | null;
  /** How long what was written to a cache is kept: an hour costs more. */
  readonly cache_creation?: { readonly ephemeral_1h_input_tokens?: number } | null;
  /** `{web_search_requests: 2}`: calls of tools that the vendor ran. */
  readonly server_tool_use?: unknown;
}

interface Message {
  readonly content?: readonly Block[];
  readonly stop_reason?: string | null;
  readonly stop_sequence?: string | null;
  readonly usage?: Usage;
}

interface StreamEvent {
  readonly type: string;
  /** The place of the block in the content. */
  readonly index?: number;
  readonly message?: Message;
  readonly content_block?: Block;
  readonly delta?: {
    readonly type?: string;
    readonly text?: string;
    readonly thinking?: string;
    readonly signature?: string;
    readonly partial_json?: string;
    readonly citation?: unknown;
    readonly stop_reason?: string | null;
    readonly stop_sequence?: string | null;
  };
  readonly usage?: Usage;
  readonly error?: unknown;
}

const FINISH_REASONS: Record<string, FinishReason> = {
  end_turn: 'stop',
  stop_sequence: 'stop-sequence',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool-calls',
  refusal: 'content-filter',
};

/** Input here leaves cached tokens out, ours holds them. Undefined when the upstream did not report its output. */
function readUsage(usage: Usage): TextUsage | undefined {
  const cached = usage.cache_read_input_tokens ?? 0;
  const written = usage.cache_creation_input_tokens ?? 0;
  const tokens = {
    inputTokens: sumOf(usage.input_tokens ?? 0, cached, written),
    cachedInputTokens: cached,
    cacheWriteTokens: written,
    imageInputTokens: 0,
    outputTokens: usage.output_tokens,
    reasoningTokens: usage.output_tokens_details?.thinking_tokens ?? 0,
  };
  return reportedUsage(tokens, {
    long_cache_write_token: usage.cache_creation?.ephemeral_1h_input_tokens,
    vendor_tool_call: countsIn(usage.server_tool_use, /_requests$/),
  });
}

function finishEvent(message: Message, known: TextUsage | undefined): TextEvent {
  const stopSequence = message.stop_sequence ? { stopSequence: message.stop_sequence } : {};
  const reason = FINISH_REASONS[message.stop_reason ?? ''] ?? 'stop';
  return { type: 'finish', reason, ...stopSequence, ...(known ? { usage: known } : {}) };
}

const signatureEvents = (signature: string | undefined): TextEvent[] =>
  signature ? [{ type: 'signature', signature: markSignature('messages', signature) }] : [];

/** The events of a block as it opens; a block of a whole reply is full then, a streamed one empty. */
function openBlock(block: Block, text: MessagesText): TextEvent[] {
  if (block.type !== 'text') text.cut();
  switch (block.type) {
    case 'text':
      text.cite(block.citations);
      return text.add(block.text);
    case 'thinking':
      return block.thinking ? [{ type: 'reasoning', text: block.thinking }] : [];
    case 'redacted_thinking':
      return block.data ? signatureEvents(REDACTED + block.data) : [];
    case 'tool_use':
      return [{ type: 'call', id: block.id ?? '', name: block.name ?? '' }];
    default:
      return [];
  }
}

/** Reads a messages stream. */
export class MessagesStreamDecoder implements StreamDecoder {
  #usage: Usage = {};
  #reportedUsage: TextUsage | undefined;
  #message: Message | undefined;
  #stopped = false;
  /** What is open is a call of ours, not of a tool that the vendor runs. */
  #inCall = false;
  /** The arguments that came with the beginning of the call, for servers that send no pieces of them. */
  #input: JsonObject | undefined;
  /** The signature that came with the beginning of the open thinking, for servers that send none at its end. */
  #signature: string | undefined;
  /** The place of the open call; undefined while none is open, or its server says none. */
  #openCall: number | undefined;
  /** What has come of other blocks while a call was open, by their places, in the order in which they began. */
  readonly #waiting = new Map<number, (JsonObject & StreamEvent)[]>();
  readonly #text = new MessagesText();

  push(data: EventData): readonly TextEvent[] {
    if (data === DONE) return [];
    const event = parseReply(data) as JsonObject & StreamEvent;
    switch (event.type) {
      case 'message_start':
        return this.#begin(event.message?.usage ?? {});
      case 'content_block_start':
      case 'content_block_delta':
      case 'content_block_stop':
        return this.#readBlock(event);
      case 'message_delta':
        this.#readEnd(event);
        return [...this.#readAllWaiting(), ...this.#text.close()];
      case 'message_stop':
        this.#stopped = true;
        return [];
      default:
        return expectNoError(event);
    }
  }

  end(): readonly TextEvent[] {
    if (!this.#stopped || !this.#message) throw brokenOff();
    return [finishEvent(this.#message, this.#reportedUsage)];
  }

  reportedUsage(): TextUsage | undefined {
    return this.#reportedUsage;
  }

  heldBack(): string {
    return [...this.#waiting.values()].flat().map(producedInMessages).join('');
  }

  #readEnd({ usage, delta }: StreamEvent): void {
    this.#usage = { ...this.#usage, ...figuresOf(usage ?? {}) };
    this.#note();
    this.#message = { ...this.#message, ...delta };
  }

  /** Some servers let blocks interleave, which may not in our events: while a call is open, the others wait. */
  #readBlock(event: JsonObject & StreamEvent): TextEvent[] {
    const { index } = event;
    if (this.#openCall === undefined || index === undefined || index === this.#openCall)
      return [...this.#readNow(event), ...this.#readWaiting()];
    const waiting = this.#waiting.get(index);
    if (waiting) waiting.push(event);
    else this.#waiting.set(index, [event]);
    return [];
  }

  #readNow({ type, index, content_block: block, delta }: StreamEvent): TextEvent[] {
    if (type === 'content_block_delta') return this.#readDelta(delta);
    if (type === 'content_block_start') {
      const opened = this.#openBlock(block);
      this.#openCall = this.#inCall ? index : undefined;
      return opened;
    }
    this.#openCall = undefined;
    return this.#closeBlock();
  }

  /** One block after the other, until one of them is a call that is not over. */
  #readWaiting(): TextEvent[] {
    const events: TextEvent[] = [];
    for (const [index, sent] of this.#waiting) {
      if (this.#openCall !== undefined) break;
      this.#waiting.delete(index);
      for (const event of sent) events.push(...this.#readNow(event));
    }
    return events;
  }

  /** At the end of a reply whose server said of a block that it began, and not that it is over. */
  #readAllWaiting(): TextEvent[] {
    const events: TextEvent[] = [];
    while (this.#waiting.size > 0) {
      this.#openCall = undefined;
      events.push(...this.#readWaiting());
    }
    return events;
  }

  /** An output that is not reported yet is 0, which is not believed once text has come. */
  #note(): void {
    this.#reportedUsage = laterUsage(this.#reportedUsage, readUsage({ output_tokens: 0, ...withoutNull(this.#usage) }));
  }

  #begin({ output_tokens: _ofTheBeginning, ...usage }: Usage): TextEvent[] {
    // What is written by then is a token or two, and would pass for the whole where no later count can be read.
    this.#usage = usage;
    this.#note();
    const known = this.#reportedUsage;
    return [{ type: 'start', ...(known ? { inputTokens: known.inputTokens } : {}) }];
  }

  #readDelta(delta: StreamEvent['delta'] = {}): TextEvent[] {
    switch (delta.type) {
      case 'text_delta':
        return this.#text.add(delta.text);
      case 'citations_delta':
        this.#text.cite([delta.citation]);
        return [];
      case 'thinking_delta':
        return delta.thinking ? [{ type: 'reasoning', text: delta.thinking }] : [];
      case 'signature_delta':
        if (delta.signature) this.#signature = undefined;
        return signatureEvents(delta.signature);
      case 'input_json_delta':
        if (!delta.partial_json || !this.#inCall) return [];
        this.#input = undefined;
        return [{ type: 'arguments', json: delta.partial_json }];
      default:
        return [];
    }
  }

  #openBlock(block: Block | undefined): TextEvent[] {
    if (!block) return [];
    this.#inCall = block.type === 'tool_use';
    this.#input = this.#inCall ? (block.input ?? {}) : undefined;
    this.#signature = block.type === 'thinking' ? block.signature : undefined;
    return [...this.#text.close(), ...openBlock(block, this.#text)];
  }

  #closeBlock(): TextEvent[] {
    const input = this.#input;
    const signature = this.#signature;
    this.#input = undefined;
    this.#signature = undefined;
    this.#inCall = false;
    return input
      ? [{ type: 'arguments', json: JSON.stringify(input) }]
      : [...this.#text.close(), ...signatureEvents(signature)];
  }
}

/** With the status 200 some servers send an error alone, which is of no type. */
function expectNoError({ type, error }: StreamEvent): [] {
  if (type === 'error' || error) throw reportedFailure(error);
  return [];
}

function withoutNull(usage: Usage): Usage {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null));
}

/** The last figures count. An upstream that leaves some out, or says nothing but zeros of its input, means those of the start. */
function figuresOf(usage: Usage): Usage {
  const { input_tokens: input, cache_read_input_tokens: read, cache_creation_input_tokens: written, ...others } = usage;
  return withoutNull(input || read || written ? usage : others);
}

/** What one event says, in whatever block: also of calls of tools that the vendor runs. */
export function producedInMessages({ content_block: block, delta = {} }: JsonObject & Partial<StreamEvent>): string {
  const { text = '', thinking = '', input } = block ?? {};
  const given = input && Object.keys(input).length > 0 ? JSON.stringify(input) : '';
  return [text, thinking, given, delta.text, delta.thinking, delta.partial_json].join('');
}

/** Reads a whole message as the events it would have been. */
export function readMessagesReply(answer: JsonObject): readonly TextEvent[] {
  const message = answer as Message & { readonly error?: unknown };
  if (message.error) throw reportedFailure(message.error);
  const { content, stop_reason: reason } = message;
  // What says neither words nor why it ended is no reply, whatever its status.
  if (!Array.isArray(content) || (content.length === 0 && !reason)) throw brokenOff();
  const text = new MessagesText();
  const blocks = (content as readonly Block[]).flatMap((block): TextEvent[] => {
    const closing: TextEvent[] = [];
    if (block.type === 'tool_use') closing.push({ type: 'arguments', json: JSON.stringify(block.input ?? {}) });
    if (block.type === 'thinking') closing.push(...signatureEvents(block.signature));
    return [...openBlock(block, text), ...text.close(), ...closing];
  });
  return [...blocks, finishEvent(message, readUsage(message.usage ?? {}))];
}
