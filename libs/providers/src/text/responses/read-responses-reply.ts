import { eventText, type FinishReason, type JsonObject, type TextEvent, type TextUsage } from '#contracts';
import { brokenOff, parseReply } from '../upstream/codec-failures.js';
import { type AnnotatedText, CitedPages } from '../upstream/cited-pages.js';
import { atLeast, reportedUsage } from '../upstream/reported-usage.js';
import type { StreamDecoder } from '../upstream/protocol-codec.js';
import { reportedFailure } from '../upstream/refused-by-upstream.js';
import { DONE, type EventData } from '../upstream/server-sent-events.js';
import { markSignature } from '../upstream/signatures.js';
import { ItemBreaks } from './item-breaks.js';

interface Item {
  readonly type: string;
  readonly content?: readonly (AnnotatedText & { readonly refusal?: string })[];
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
    readonly input_tokens_details?: { readonly cached_tokens?: number; readonly cache_write_tokens?: number };
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
    cacheWriteTokens: usage.input_tokens_details?.cache_write_tokens ?? 0,
    imageInputTokens: 0,
    outputTokens: usage.output_tokens,
    reasoningTokens: usage.output_tokens_details?.reasoning_tokens ?? 0,
  });
}

function finishReason(response: Response, called: boolean): FinishReason {
  if (response.incomplete_details?.reason === 'max_output_tokens') return 'length';
  if (response.incomplete_details?.reason === 'content_filter') return 'content-filter';
  // Some servers name another reason, or none.
  if (response.status === 'incomplete') return 'length';
  return called ? 'tool-calls' : 'stop';
}

function finishEvent(response: Response, called: boolean, usage: TextUsage | undefined): TextEvent {
  return { type: 'finish', reason: finishReason(response, called), ...(usage ? { usage } : {}) };
}

/** The events that come once a token, under every name servers give them. */
const DELTAS: Readonly<Record<string, (delta: string) => TextEvent>> = {
  'response.output_text.delta': (text) => ({ type: 'text', text }),
  'response.refusal.delta': (text) => ({ type: 'refusal', text }),
  'response.reasoning_summary_text.delta': (text) => ({ type: 'reasoning', text }),
  'response.reasoning_text.delta': (text) => ({ type: 'reasoning', text }),
  'response.reasoning.delta': (text) => ({ type: 'reasoning', text }),
  'response.function_call_arguments.delta': (json) => ({ type: 'arguments', json }),
};

/** What stands between two parts of a summary when they become one text. */
const PART_BREAK = '\n\n';

/** The item whose pieces are passed on as they come. */
interface OpenItem {
  readonly isCall: boolean;
  /** In the output; undefined where the server does not say. */
  readonly place: number | undefined;
  /** Whether any piece of it has been passed on. */
  hasPieces: boolean;
}

/** Reads a responses stream. Of items that interleave, one is passed on as it comes and the others whole when they are done. */
export class ResponsesStreamDecoder implements StreamDecoder {
  #called = false;
  #open: OpenItem | undefined;
  /** Whether any item has come in pieces or whole: some servers send the whole response at its end and nothing before. */
  #hasItems = false;
  /** The items that began while another was open: their places in the output, and what has come of them. */
  readonly #waiting = new Map<number | undefined, string>();
  #response: Response | undefined;
  #reportedUsage: TextUsage | undefined;
  readonly #pages = new CitedPages();
  readonly #items = new ItemBreaks();

  push(data: EventData): readonly TextEvent[] {
    if (data === DONE) return [];
    const event = parseReply(data) as JsonObject & StreamEvent;
    const delta = DELTAS[event.type];
    if (!delta) return this.#readStep(event);
    return event.delta ? this.#grow(event, delta(event.delta)) : [];
  }

  #readStep(event: StreamEvent): readonly TextEvent[] {
    switch (event.type) {
      case 'response.output_item.added':
        return this.#openItem(event);
      case 'response.reasoning_summary_part.added':
        return this.#beginPart(event);
      case 'response.output_item.done':
        return this.#closeItem(event);
      case 'response.completed':
      case 'response.incomplete':
        return this.#complete(event.response ?? {});
      case 'response.failed':
        this.#reportedUsage = atLeast(this.#reportedUsage, readUsage(event.response?.usage));
        throw reportedFailure(event.response?.error);
      default:
        return expectNoError(event);
    }
  }

  #complete(response: Response): readonly TextEvent[] {
    this.#response = response;
    this.#reportedUsage = atLeast(this.#reportedUsage, readUsage(response.usage));
    const events = (response.output ?? []).flatMap((item, place) => this.#readUnread(item, place));
    this.#hasItems = true;
    this.#waiting.clear();
    this.#open = undefined;
    return events;
  }

  /** What has been passed on in no way: of items that were never said to be done, those that waited, or came in no pieces. */
  #readUnread(item: Item, place: number): readonly TextEvent[] {
    if (!this.#hasItems || this.#waiting.has(place)) return this.#readWhole(item);
    if (this.#open?.place !== place || this.#open.hasPieces) return [];
    return this.#open.isCall ? [argumentsEvent(item)] : this.#readWhole(item);
  }

  end(): readonly TextEvent[] {
    if (!this.#response) throw brokenOff();
    const called = this.#called || (this.#response.output ?? []).some((item) => item.type === 'function_call');
    return [finishEvent(this.#response, called, this.#reportedUsage)];
  }

  reportedUsage(): TextUsage | undefined {
    return this.#reportedUsage;
  }

  heldBack(): string {
    return [...this.#waiting.values()].join('');
  }

  #readWhole(item: Item): readonly TextEvent[] {
    return this.#items.item(readItem(item, this.#pages));
  }

  #grow({ output_index: index }: StreamEvent, piece: TextEvent): readonly TextEvent[] {
    const waiting = this.#waiting.get(index);
    if (waiting !== undefined) {
      this.#waiting.set(index, waiting + eventText(piece));
      return [];
    }
    const open = this.#open ?? this.#begin(false, index);
    if (piece.type === 'arguments' && !open.isCall) return [];
    open.hasPieces = true;
    return this.#items.piece([piece]);
  }

  #beginPart(event: StreamEvent): readonly TextEvent[] {
    return this.#open?.hasPieces ? this.#grow(event, { type: 'reasoning', text: PART_BREAK }) : [];
  }

  #openItem({ item, output_index: index }: StreamEvent): readonly TextEvent[] {
    const isCall = item?.type === 'function_call';
    this.#called ||= isCall;
    if (this.#open) {
      this.#waiting.set(index, '');
      return [];
    }
    this.#begin(isCall, index);
    return isCall ? this.#items.piece([callEvent(item)]) : [];
  }

  #begin(isCall: boolean, place: number | undefined): OpenItem {
    this.#hasItems = true;
    this.#items.begin();
    this.#open = { isCall, place, hasPieces: false };
    return this.#open;
  }

  #closeItem({ item, output_index: index }: StreamEvent): readonly TextEvent[] {
    if (!item) return [];
    this.#hasItems = true;
    this.#called ||= item.type === 'function_call';
    const open = this.#open;
    if (this.#waiting.delete(index) || !open) return this.#readWhole(item);
    this.#open = undefined;
    if (open.hasPieces) return this.#items.piece([...readCitations(item, this.#pages), ...readProof(item)]);
    return open.isCall ? [argumentsEvent(item)] : this.#readWhole(item);
  }
}

const callEvent = (item: Item): TextEvent => ({ type: 'call', id: item.call_id ?? '', name: item.name ?? '' });
const argumentsEvent = (item: Item): TextEvent => ({ type: 'arguments', json: item.arguments ?? '' });

function readProof({ type, encrypted_content: proof }: Item): TextEvent[] {
  return type === 'reasoning' && proof ? [{ type: 'signature', signature: markSignature('responses', proof) }] : [];
}

const readCitations = ({ type, content }: Item, pages: CitedPages): TextEvent[] =>
  type === 'message' ? pages.read(content ?? []) : [];

function readItem(item: Item, pages: CitedPages): TextEvent[] {
  switch (item.type) {
    case 'message': {
      const said = (item.content ?? []).flatMap(({ text, refusal }): TextEvent[] => {
        if (text) return [{ type: 'text', text }];
        return refusal ? [{ type: 'refusal', text: refusal }] : [];
      });
      return [...said, ...readCitations(item, pages)];
    }
    case 'function_call':
      return [callEvent(item), argumentsEvent(item)];
    case 'reasoning': {
      // Open models show their reasoning itself, and no summary of it.
      const parts = item.summary?.length ? item.summary : (item.content ?? []);
      const text = parts.map((part) => part.text ?? '').join(PART_BREAK);
      return [...(text === '' ? [] : [{ type: 'reasoning' as const, text }]), ...readProof(item)];
    }
    default:
      return [];
  }
}

/** With the status 200 some servers send an error alone, which is of no type. */
function expectNoError(event: StreamEvent): [] {
  if (event.type === 'error' || event.error) throw reportedFailure(event.error ?? event);
  return [];
}

/** Of a response that is not finished, or never will be. */
const UNFINISHED: ReadonlySet<string | undefined> = new Set(['cancelled', 'in_progress', 'queued']);

/** Reads a whole response as the events it would have been. */
export function readResponsesReply(answer: JsonObject): readonly TextEvent[] {
  const response = answer as Response;
  if (response.status === 'failed' || response.error) throw reportedFailure(response.error);
  const { output, status } = response;
  // What says neither words nor how it ended is no reply, whatever its status.
  const isNone = !Array.isArray(output) || (output.length === 0 && status === undefined);
  if (isNone || UNFINISHED.has(status)) throw brokenOff();
  const called = output.some((item) => item.type === 'function_call');
  const pages = new CitedPages();
  const items = new ItemBreaks();
  const read = output.flatMap((item) => items.item(readItem(item, pages)));
  return [...read, finishEvent(response, called, readUsage(response.usage))];
}
