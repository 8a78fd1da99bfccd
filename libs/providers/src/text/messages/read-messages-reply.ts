import {
  type FinishReason,
  isJsonObject,
  type JsonObject,
  type LastPart,
  REDACTED,
  serviceTierOf,
  type TextEvent,
  type TextUsage,
} from '#contracts';
import { CitedPages } from '../upstream/cited-pages.js';
import { brokenOff, parseReply } from '../upstream/codec-failures.js';
import { ContinuedReply, isCounted } from '../upstream/continued-reply.js';
import type { StreamDecoder } from '../upstream/protocol-codec.js';
import { reportedFailure } from '../upstream/refused-by-upstream.js';
import {
  type ChargedUsage,
  countOf,
  countsIn,
  laterUsage,
  longWritesIn,
  reportedUsage,
  SEARCHES,
  sumOf,
  sumOfCalls,
  usedUnits,
  withCharge,
  withTier,
  withUnits,
} from '../upstream/reported-usage.js';
import { DONE, type EventData } from '../upstream/server-sent-events.js';
import { markSignature } from '../upstream/signatures.js';
import { SentBlocks } from './sent-blocks.js';

/** The texts of one reply. Text blocks that follow each other are pieces of one text, cut where a citation belongs to them. */
class MessagesText {
  private readonly pages = new CitedPages();
  /** What has been said of the open text in blocks before this one, in UTF-16 units. */
  private before = 0;
  private block = '';
  private citations: unknown[] = [];
  private isCut = false;

  /** A block of another kind begins, also one that other styles do not have: what is said behind it is another text. */
  cut(): void {
    this.isCut = this.before > 0;
  }

  add(text: string | undefined): TextEvent[] {
    if (!text) return [];
    const apart: TextEvent[] = this.isCut ? [{ type: 'break' }] : [];
    if (this.isCut) this.before = 0;
    this.isCut = false;
    this.block += text;
    return [...apart, { type: 'text', text }];
  }

  /** A vendor that searches the web by itself cites unasked, in front of the words or behind them. */
  cite(citations: unknown): void {
    if (Array.isArray(citations)) this.citations.push(...(citations as readonly unknown[]));
  }

  /** The block is over: its citations are about all of it. */
  close(): TextEvent[] {
    const { length } = this.block;
    const annotations = this.citations.map((citation) => annotationOf(citation, length));
    const cited = length > 0 ? this.pages.read([{ text: this.block, annotations }], this.before) : [];
    this.before += length;
    this.block = '';
    this.citations = [];
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

interface Usage extends ChargedUsage {
  readonly input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly output_tokens_details?: { readonly thinking_tokens?: number } | null;
  /** How long what was written to a cache is kept: an hour costs more. */
  readonly cache_creation?: unknown;
  /** `{web_search_requests: 2}`: calls of tools that the vendor ran. */
  readonly server_tool_use?: unknown;
  readonly service_tier?: unknown;
  /** What each round of the vendor's own used, those of a compaction too, which the counts beside it leave out. */
  readonly iterations?: readonly Usage[] | null;
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
  // Its vendor's tools ran as often as they may in one reply.
  pause_turn: 'tool-limit',
  compaction: 'length',
};

const COUNTS = [
  'input_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'output_tokens',
] as const satisfies readonly (keyof Usage)[];

/** The usage of all rounds, where they are listed. */
function withIterations(usage: Usage): Usage {
  const { iterations } = usage;
  if (!Array.isArray(iterations) || iterations.length === 0) return usage;
  const rounds = (iterations as readonly unknown[]).filter(isJsonObject);
  const counts = COUNTS.map((name) => {
    const sum = sumOf(...rounds.map((round) => countOf(round[name])));
    const said = usage[name];
    return [name, said == null && sum === 0 ? said : Math.max(sum, countOf(said))];
  });
  return { ...usage, ...(Object.fromEntries(counts) as Usage) };
}

/**
 * Input here leaves cached tokens out, ours holds them. Each round of the vendor's own is
 * a call of the model, at the prices of its own input, where all that was used is in them.
 */
function readUsage(sent: Usage): TextUsage | undefined {
  const whole = readCall(withIterations(sent));
  const { iterations } = sent;
  if (!whole || !Array.isArray(iterations) || iterations.length < 2) return whole;
  const rounds = (iterations as readonly unknown[]).filter(isJsonObject).map((round) => readCall(round as Usage));
  const calls = rounds.filter((round) => round !== undefined);
  const sum = calls.length === rounds.length ? sumOfCalls(calls) : undefined;
  if (sum?.inputTokens !== whole.inputTokens || sum.outputTokens !== whole.outputTokens) return whole;
  // What the vendor kept for longer it may say of the whole alone, which then is at the prices of the whole.
  const longWrites = sum.units?.cache_write_long_token ?? 0;
  if ((whole.units?.cache_write_long_token ?? 0) > longWrites) return whole;
  const { cache_write_long_token: _ofLast, ...counted } = whole.units ?? {};
  const last = withUnits(calls.pop()!, usedUnits(counted));
  const reasoned = last.reasoningTokens + Math.max(0, whole.reasoningTokens - sum.reasoningTokens);
  calls.push({ ...last, reasoningTokens: Math.min(last.outputTokens, reasoned) });
  const units = usedUnits({ ...counted, cache_write_long_token: longWrites });
  return { ...whole, ...(units && { units }), calls: calls.map((call) => withTier(call, whole.tier)) };
}

function readCall(usage: Usage): TextUsage | undefined {
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
  const calls = countsIn(usage.server_tool_use, /_requests$/);
  const searches = countsIn(usage.server_tool_use, SEARCHES);
  const reported = reportedUsage(tokens, {
    cache_write_long_token: longWritesIn(usage.cache_creation),
    vendor_web_search_call: searches,
    vendor_tool_call: calls - searches,
  });
  const served = reported && withTier(reported, serviceTierOf(usage.service_tier));
  return withCharge(served, usage);
}

/** @param called whether it called functions of the caller's, which some servers do not say at the end. */
function finishEvent(message: Message, known: TextUsage | undefined, called: boolean): TextEvent {
  const stopSequence = message.stop_sequence ? { stopSequence: message.stop_sequence } : {};
  const said = FINISH_REASONS[message.stop_reason ?? ''] ?? 'stop';
  const reason = said === 'stop' && called ? 'tool-calls' : said;
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

export class MessagesStreamDecoder implements StreamDecoder {
  private usage: Usage = {};
  private latestUsage: TextUsage | undefined;
  private message: Message = {};
  /** Whether its vendor has said that the reply is over. */
  private stopped = false;
  private hasBlocks = false;
  /** What is open is a call of ours, not of a tool that the vendor runs. */
  private inCall = false;
  private hasCalled = false;
  /** The arguments that came with the beginning of the call, for servers that send no pieces of them. */
  private input: JsonObject | undefined;
  /** The signature that came with the beginning of the open thinking, for servers that send none at its end. */
  private signature: string | undefined;
  /** The place of the open call; undefined while none is open, or its server says none. */
  private openCall: number | undefined;
  /** What has come of other blocks while a call was open, by their places, in the order in which they began. */
  private readonly waiting = new Map<number, (JsonObject & StreamEvent)[]>();
  private readonly text = new MessagesText();
  private readonly parts = new ContinuedReply();
  /** Undefined where nobody goes on with the reply. */
  private readonly sent: SentBlocks | undefined;

  /** @param keep takes memory for what is kept of a reply that may be gone on with. */
  constructor(keep?: (bytes: number) => void) {
    if (keep) this.sent = new SentBlocks(keep);
  }

  push(data: EventData): readonly TextEvent[] {
    if (data === DONE) {
      this.stopped = true;
      return [];
    }
    const event = parseReply(data) as JsonObject & StreamEvent;
    this.sent?.take(event, data.length);
    const events = this.readEvent(event);
    this.parts.note(events);
    return events;
  }

  private readEvent(event: JsonObject & StreamEvent): readonly TextEvent[] {
    switch (event.type) {
      case 'message_start':
        return this.begin(event.message?.usage ?? {});
      case 'content_block_start':
      case 'content_block_delta':
      case 'content_block_stop':
        return this.readBlock(event);
      case 'message_delta':
        this.readEnd(event);
        return [...this.readAllWaiting(), ...this.text.close()];
      case 'message_stop':
        this.stopped = true;
        return [];
      default:
        return expectNoError(event);
    }
  }

  end(): readonly TextEvent[] {
    const { stop_reason: reason } = this.message;
    // Some servers leave out the last event, or the one with the reason; what has neither is no reply unless it said something.
    if (!reason && !(this.stopped && this.hasBlocks)) throw brokenOff();
    return [finishEvent(this.message, this.reportedUsage(), this.hasCalled)];
  }

  reportedUsage(): TextUsage | undefined {
    return this.parts.usageWith(this.latestUsage);
  }

  /** Of a turn that the vendor paused: it goes on from its own blocks, with what is left of the output limit. */
  continuation(body: JsonObject): JsonObject | undefined {
    const { max_tokens: limit, messages } = body;
    const content = this.sent?.content();
    const isPaused = this.message.stop_reason === 'pause_turn' && isCounted(this.latestUsage);
    if (!isPaused || !content || !Array.isArray(messages) || typeof limit !== 'number') return undefined;
    const left = limit - (this.reportedUsage()?.outputTokens ?? 0);
    return left < 1
      ? undefined
      : { ...body, max_tokens: left, messages: [...(messages as JsonObject[]), { role: 'assistant', content }] };
  }

  lastPart(): LastPart | undefined {
    return this.parts.lastPart(this.latestUsage, this.heldBack());
  }

  nextPart(): void {
    this.parts.next(this.latestUsage);
    this.usage = {};
    this.latestUsage = undefined;
    this.message = {};
    this.stopped = false;
    this.hasBlocks = false;
    this.text.cut();
  }

  heldBack(): string {
    return [...this.waiting.values()].flat().map(producedInMessages).join('');
  }

  private readEnd({ usage, delta }: StreamEvent): void {
    this.usage = { ...this.usage, ...figuresOf(usage ?? {}) };
    this.note();
    this.message = { ...this.message, ...delta };
  }

  /** Some servers let blocks interleave, which may not in our events: while a call is open, the others wait. */
  private readBlock(event: JsonObject & StreamEvent): TextEvent[] {
    const { index } = event;
    this.hasBlocks = true;
    if (this.openCall === undefined || index === undefined || index === this.openCall)
      return [...this.readNow(event), ...this.readWaiting()];
    const waiting = this.waiting.get(index);
    if (waiting) waiting.push(event);
    else this.waiting.set(index, [event]);
    return [];
  }

  private readNow({ type, index, content_block: block, delta }: StreamEvent): TextEvent[] {
    if (type === 'content_block_delta') return this.readDelta(delta);
    if (type === 'content_block_start') {
      const opened = this.openBlock(block);
      this.openCall = this.inCall ? index : undefined;
      return opened;
    }
    this.openCall = undefined;
    return this.closeBlock();
  }

  /** One block after the other, until one of them is a call that is not over. */
  private readWaiting(): TextEvent[] {
    const events: TextEvent[] = [];
    for (const [index, sent] of this.waiting) {
      if (this.openCall !== undefined) break;
      this.waiting.delete(index);
      for (const event of sent) events.push(...this.readNow(event));
    }
    return events;
  }

  /** At the end of a reply whose server said of a block that it began, and not that it is over. */
  private readAllWaiting(): TextEvent[] {
    const events: TextEvent[] = [];
    while (this.waiting.size > 0) {
      this.openCall = undefined;
      events.push(...this.readWaiting());
    }
    return events;
  }

  /** An output that is not reported yet is 0, which is not believed once text has come. */
  private note(): void {
    this.latestUsage = laterUsage(this.latestUsage, readUsage(withoutNull(this.usage)));
  }

  private begin({ output_tokens: _ofTheBeginning, ...usage }: Usage): TextEvent[] {
    // What is written by then is a token or two, and would pass for the whole where no later count can be read.
    this.usage = usage;
    this.note();
    const known = this.latestUsage;
    if (this.parts.isContinued) return [];
    return [{ type: 'start', ...(known ? { inputTokens: known.inputTokens } : {}) }];
  }

  private readDelta(delta: StreamEvent['delta'] = {}): TextEvent[] {
    switch (delta.type) {
      case 'text_delta':
        return this.text.add(delta.text);
      case 'citations_delta':
        this.text.cite([delta.citation]);
        return [];
      case 'thinking_delta':
        return delta.thinking ? [{ type: 'reasoning', text: delta.thinking }] : [];
      case 'signature_delta':
        if (delta.signature) this.signature = undefined;
        return signatureEvents(delta.signature);
      case 'input_json_delta':
        if (!delta.partial_json || !this.inCall) return [];
        this.input = undefined;
        return [{ type: 'arguments', json: delta.partial_json }];
      default:
        return [];
    }
  }

  private openBlock(block: Block | undefined): TextEvent[] {
    if (!block) return [];
    this.inCall = block.type === 'tool_use';
    this.hasCalled ||= this.inCall;
    this.input = this.inCall ? (block.input ?? {}) : undefined;
    this.signature = block.type === 'thinking' ? block.signature : undefined;
    return [...this.text.close(), ...openBlock(block, this.text)];
  }

  private closeBlock(): TextEvent[] {
    const input = this.input;
    const signature = this.signature;
    this.input = undefined;
    this.signature = undefined;
    this.inCall = false;
    return input
      ? [{ type: 'arguments', json: JSON.stringify(input) }]
      : [...this.text.close(), ...signatureEvents(signature)];
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
  const called = blocks.some(({ type }) => type === 'call');
  return [...blocks, finishEvent(message, message.usage && readUsage(message.usage), called)];
}
