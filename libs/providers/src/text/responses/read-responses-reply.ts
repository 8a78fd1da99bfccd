import {
  eventText,
  type FinishReason,
  type JsonObject,
  type JsonValue,
  serviceTierOf,
  type TextEvent,
  type TextUsage,
} from '#contracts';
import { type ChatUsage, readNamedUsage } from '../chat/chat-usage.js';
import { type AnnotatedText, CitedPages } from '../upstream/cited-pages.js';
import { brokenOff, parseReply } from '../upstream/codec-failures.js';
import type { StreamDecoder } from '../upstream/protocol-codec.js';
import { reportedFailure } from '../upstream/refused-by-upstream.js';
import { laterUsage, usedUnits, withTier } from '../upstream/reported-usage.js';
import { DONE, type EventData } from '../upstream/server-sent-events.js';
import { argumentsText } from '../upstream/request-fields.js';
import { markSignature } from '../upstream/signatures.js';

/** What an event belongs to that another of the kind would continue; a citation belongs to its text. */
const kindOf = ({ type }: TextEvent): TextEvent['type'] => (type === 'citation' ? 'text' : type);

const GROWING: ReadonlySet<TextEvent['type']> = new Set(['text', 'refusal', 'reasoning']);

/** Keeps items of one kind that follow each other apart, such as two messages: a commentary, and then the answer. */
class ItemBreaks {
  private last: TextEvent['type'] | undefined;
  private isNext = false;

  item(events: readonly TextEvent[]): readonly TextEvent[] {
    this.isNext = true;
    return this.piece(events);
  }

  /** Pieces of the next item will come. */
  begin(): void {
    this.isNext = true;
  }

  piece(events: readonly TextEvent[]): readonly TextEvent[] {
    const [first] = events;
    const last = events.at(-1);
    if (!first || !last) return events;
    const isApart = this.isNext && GROWING.has(first.type) && first.type === this.last;
    this.isNext = false;
    this.last = kindOf(last);
    return isApart ? [{ type: 'break' }, ...events] : events;
  }
}

interface Item {
  readonly type: string;
  readonly content?: readonly (AnnotatedText & { readonly refusal?: string })[];
  readonly call_id?: string;
  readonly name?: string;
  /** Some servers write them as the object itself. */
  readonly arguments?: JsonValue;
  readonly summary?: readonly { readonly text?: string }[];
  readonly encrypted_content?: string | null;
  /** What the call of a vendor's tool did. */
  readonly action?: { readonly type?: unknown } | null;
}

interface Response {
  readonly status?: string;
  readonly output?: readonly Item[];
  readonly error?: unknown;
  readonly incomplete_details?: { readonly reason?: string } | null;
  /** The figures of the chat interface; four of them have other names, or the same at vendors that speak both. */
  readonly usage?:
    | (ChatUsage & {
        readonly input_tokens?: number | null;
        readonly input_tokens_details?: ChatUsage['prompt_tokens_details'];
        readonly output_tokens?: number | null;
        readonly output_tokens_details?: ChatUsage['completion_tokens_details'];
      })
    | null;
  readonly service_tier?: unknown;
}

/** A part of a message or of reasoning. */
interface Part {
  readonly type?: string;
  readonly text?: string;
  readonly refusal?: string;
}

interface StreamEvent extends Part {
  readonly type: string;
  readonly delta?: string;
  readonly arguments?: JsonValue;
  readonly part?: Part;
  readonly output_index?: number;
  readonly content_index?: number;
  readonly summary_index?: number;
  readonly item?: Item;
  readonly response?: Response;
  readonly error?: unknown;
}

function readUsage({ usage, output, service_tier: tier }: Response): TextUsage | undefined {
  if (!usage) return undefined;
  const reported = readNamedUsage(
    {
      input: usage.input_tokens,
      read: usage.input_tokens_details,
      output: usage.output_tokens,
      written: usage.output_tokens_details,
    },
    usage,
  );
  return reported && withTier(withCalls(reported, Array.isArray(output) ? output : []), serviceTierOf(tier));
}

/** Tools that the vendor ran stand in the reply too, and where it also counts them the larger number holds. */
function withCalls(usage: TextUsage, items: readonly (Item | undefined)[]): TextUsage {
  const calls = items.filter((item) => VENDORS_CALL.test(item?.type ?? '')).length;
  if (calls === 0) return usage;
  const { vendor_web_search_call: counted = 0, vendor_tool_call: others = 0, ...parts } = usage.units ?? {};
  const searches = Math.max(items.filter(isSearch).length, counted);
  const units = usedUnits({
    ...parts,
    vendor_web_search_call: searches,
    vendor_tool_call: Math.max(calls, counted + others) - searches,
  });
  return { ...usage, ...(units && { units }) };
}

/** A call that searched; those that open a page or look for words in it are free. */
const isSearch = (item: Item | undefined): boolean =>
  /^(web|x)_search_call$/.test(String(item?.type)) && !/^(open_page|find)/.test(String(item?.action?.type));

/** Items that stand for a tool that the vendor ran. */
const VENDORS_CALL = /^(web_search|x_search|file_search|code_interpreter|image_generation|mcp)_call$/;

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

/** The events that say a part again when it is over. Some servers say it there alone. */
const WHOLE_PARTS: Readonly<Record<string, (event: StreamEvent) => TextEvent>> = {
  'response.output_text.done': ({ text = '' }) => ({ type: 'text', text }),
  'response.refusal.done': ({ refusal = '' }) => ({ type: 'refusal', text: refusal }),
  'response.content_part.done': ({ part = {} }) => readPart(part),
  'response.reasoning_summary_text.done': ({ text = '' }) => ({ type: 'reasoning', text }),
  'response.reasoning_summary_part.done': ({ part = {} }) => readPart({ ...part, type: 'summary_text' }),
  'response.reasoning_text.done': ({ text = '' }) => ({ type: 'reasoning', text }),
  'response.reasoning.done': ({ text = '' }) => ({ type: 'reasoning', text }),
  'response.function_call_arguments.done': ({ arguments: json }) => ({ type: 'arguments', json: argumentsText(json) }),
};

/** What stands between two parts of a summary when they become one text. */
const PART_BREAK = '\n\n';

/** An item that is not over, or not passed on. */
interface OpenItem {
  /** As it was announced, or as it is now that it is done; undefined where no event has named it. */
  item: Item | undefined;
  isDone: boolean;
  /** In the output; undefined where the server does not say. */
  readonly place: number | undefined;
  /** The places of the parts of which something has come; undefined where the server does not say. */
  readonly parts: Set<number | undefined>;
  /** How many characters have come. */
  length: number;
  /** Whether another part has been announced. */
  isNextPart: boolean;
  /** What has come of an item that waits for another to be over; undefined: it is passed on as it comes. */
  readonly held: TextEvent[] | undefined;
}

const openItem = (item: Item | undefined, place: number | undefined, held?: TextEvent[]): OpenItem => {
  return { item, isDone: false, place, parts: new Set(), length: 0, isNextPart: false, held };
};

/** Reads a responses stream. Of items that interleave, one is passed on as it comes and the others whole when they are done. */
export class ResponsesStreamDecoder implements StreamDecoder {
  private called = false;
  private open: OpenItem | undefined;
  /** Whether any item has come in pieces or whole: some servers send the whole response at its end and nothing before. */
  private hasItems = false;
  /** The items that began, or came whole, while another was open, by their places in the output. */
  private readonly waiting = new Map<number | undefined, OpenItem>();
  /** The items that were done and had said nothing, by their places: the whole response may say it. */
  private readonly silent = new Map<number | undefined, Item>();
  private response: Response | undefined;
  private latestUsage: TextUsage | undefined;
  private readonly pages = new CitedPages();
  private readonly items = new ItemBreaks();

  push(data: EventData): readonly TextEvent[] {
    // Some servers end a stream with this word alone.
    if (data === DONE) return this.hasItems && !this.response ? this.complete({}) : [];
    const event = parseReply(data) as JsonObject & StreamEvent;
    const delta = DELTAS[event.type];
    if (!delta) return this.readStep(event);
    return event.delta ? this.grow(event, delta(event.delta)) : [];
  }

  private readStep(event: StreamEvent): readonly TextEvent[] {
    switch (event.type) {
      case 'response.output_item.added':
        return this.openItem(event);
      case 'response.reasoning_summary_part.added':
        if (this.open) this.open.isNextPart = true;
        return [];
      case 'response.output_item.done':
        return this.closeItem(event);
      case 'response.completed':
      case 'response.incomplete':
        return this.complete(event.response ?? {});
      case 'response.failed':
        this.latestUsage = laterUsage(this.latestUsage, event.response && readUsage(event.response));
        throw reportedFailure(event.response?.error);
      default: {
        const part = WHOLE_PARTS[event.type]?.(event);
        return part ? this.fill(event, part) : expectNoError(event);
      }
    }
  }

  private complete(response: Response): readonly TextEvent[] {
    this.response = response;
    this.latestUsage = laterUsage(this.latestUsage, readUsage(response));
    const events = (response.output ?? []).flatMap((item, place) => this.readUnread(item, place));
    this.hasItems = true;
    // What the response does not name ends with what has come of it.
    const unnamed = [this.open, ...this.waiting.values()].filter((open) => open !== undefined);
    this.open = undefined;
    this.waiting.clear();
    events.push(...unnamed.flatMap((open) => (open.item ? this.rest(open, open.item) : [])));
    events.push(...[...this.silent.values()].filter(isCall).flatMap((item) => this.readWhole(item)));
    this.silent.clear();
    return events;
  }

  /** What has been passed on in no way: of items that were never said to be done, those that waited, or came in no pieces. */
  private readUnread(item: Item, place: number): readonly TextEvent[] {
    if (!this.hasItems || this.silent.delete(place)) return this.readWhole(item);
    const waiting = this.waiting.get(place);
    if (waiting) {
      this.waiting.delete(place);
      return this.rest(waiting, item);
    }
    const open = this.open;
    if (open?.place !== place) return [];
    this.open = undefined;
    return this.rest(open, item);
  }

  end(): readonly TextEvent[] {
    if (!this.response) throw brokenOff();
    const called = this.called || (this.response.output ?? []).some(isCall);
    return [finishEvent(this.response, called, this.latestUsage)];
  }

  reportedUsage(): TextUsage | undefined {
    return this.latestUsage;
  }

  heldBack(): string {
    const held = [...this.waiting.values()].map(({ item, held: pieces = [] }) => {
      const [whole, came] = [textOf(item ? partsOf(item) : []), textOf(pieces)];
      return whole.length > came.length ? whole : came;
    });
    return held.join('');
  }

  private readWhole(item: Item): readonly TextEvent[] {
    return this.items.item(readItem(item, this.pages));
  }

  /** A part that is over: nothing of it comes again. */
  private fill(event: StreamEvent, part: TextEvent): readonly TextEvent[] {
    const open = this.waiting.get(event.output_index) ?? this.open;
    const place = placeOfPart(event);
    if (eventText(part) === '') return [];
    const hasCome =
      open && (open.parts.has(place) || open.parts.has(undefined) || (place === undefined && open.length > 0));
    return hasCome && (part.type !== 'arguments' || isCall(open.item)) ? [] : this.grow(event, part);
  }

  private grow(event: StreamEvent, piece: TextEvent): readonly TextEvent[] {
    const { output_index: index } = event;
    const waiting = this.waiting.get(index);
    if (waiting) return this.say(waiting, placeOfPart(event), piece);
    // Of a call whose name has not come yet.
    if (piece.type === 'arguments' && !isCall(this.open?.item)) {
      this.hasItems = true;
      return this.say(this.wait(openItem(undefined, index, [])), placeOfPart(event), piece);
    }
    return this.say(this.open ?? this.begin(undefined, index), placeOfPart(event), piece);
  }

  private say(open: OpenItem, part: number | undefined, piece: TextEvent): readonly TextEvent[] {
    const isFirst = open.length === 0;
    const isApart = piece.type === 'reasoning' && !isFirst && (open.isNextPart || !open.parts.has(part));
    const said: TextEvent = isApart ? { type: 'reasoning', text: PART_BREAK + piece.text } : piece;
    open.isNextPart = false;
    open.parts.add(part);
    open.length += eventText(piece).length;
    if (open.held) {
      open.held.push(said);
      return [];
    }
    return this.items.piece(isFirst && isCall(open.item) && open.item ? [callEvent(open.item), said] : [said]);
  }

  private openItem({ item, output_index: index }: StreamEvent): readonly TextEvent[] {
    this.called ||= isCall(item);
    const waiting = this.waiting.get(index);
    if (waiting) waiting.item ??= item;
    else if (this.open) this.wait(openItem(item, index, []));
    else this.begin(item, index);
    return [];
  }

  private wait(open: OpenItem): OpenItem {
    this.silent.delete(open.place);
    this.waiting.set(open.place, open);
    return open;
  }

  private begin(item: Item | undefined, place: number | undefined): OpenItem {
    this.hasItems = true;
    this.silent.delete(place);
    this.items.begin();
    this.open = openItem(item, place);
    return this.open;
  }

  private closeItem({ item, output_index: index }: StreamEvent): readonly TextEvent[] {
    if (!item) return [];
    this.hasItems = true;
    this.called ||= isCall(item);
    const open = this.open;
    const waiting = this.waiting.get(index);
    if (open && (waiting || (open.place !== index && open.place !== undefined && index !== undefined))) {
      const ended = waiting ?? this.wait(openItem(item, index, []));
      ended.item = item;
      ended.isDone = true;
      return [];
    }
    this.open = undefined;
    this.waiting.delete(index);
    return [...this.rest(waiting ?? open ?? openItem(item, index), item), ...this.ended()];
  }

  /** The items that were done before the one they waited for. */
  private ended(): readonly TextEvent[] {
    const ended = [...this.waiting.values()].filter(({ isDone }) => isDone);
    return ended.flatMap((open) => {
      this.waiting.delete(open.place);
      return open.item ? this.rest(open, open.item) : [];
    });
  }

  /** What an item that is over says and has not been passed on. */
  private rest(open: OpenItem, item: Item): readonly TextEvent[] {
    const parts = partsOf(item);
    const { length } = textOf(parts);
    if (open.held && open.length > length)
      return this.items.item([
        ...(isCall(item) ? [callEvent(item)] : []),
        ...open.held,
        ...readNotes(item, this.pages),
      ]);
    if (!open.held && open.length > 0) return this.missing(open, item, length > open.length ? parts : []);
    if (length === 0) this.silent.set(open.place, item);
    return length === 0 && isCall(item) ? [] : this.readWhole(item);
  }

  /** Whole parts of which no piece has come. */
  private missing(open: OpenItem, item: Item, parts: readonly TextEvent[]): readonly TextEvent[] {
    const unread = isCall(item) || open.parts.has(undefined) ? [] : [...parts.entries()];
    const missing = unread.filter(([place, part]) => !open.parts.has(place) && eventText(part) !== '');
    const events = missing.flatMap(([place, part]) => this.say(open, place, part));
    return [...events, ...this.items.piece(readNotes(item, this.pages))];
  }
}

const isCall = (item: Item | undefined): boolean => item?.type === 'function_call';
const placeOfPart = ({ content_index: content, summary_index: summary }: StreamEvent): number | undefined =>
  content ?? summary;
const textOf = (events: readonly TextEvent[]): string => events.map(eventText).join('');

const callEvent = (item: Item): TextEvent => ({ type: 'call', id: item.call_id ?? '', name: item.name ?? '' });
const argumentsEvent = (item: Item): TextEvent => ({ type: 'arguments', json: argumentsText(item.arguments) });

function readPart({ type, text, refusal }: Part): TextEvent {
  if (type === 'reasoning_text' || type === 'summary_text') return { type: 'reasoning', text: text ?? '' };
  return refusal && !text ? { type: 'refusal', text: refusal } : { type: 'text', text: text ?? '' };
}

function partsOf(item: Item): TextEvent[] {
  switch (item.type) {
    case 'message':
      return (item.content ?? []).map(readPart);
    case 'function_call':
      return [argumentsEvent(item)];
    case 'reasoning': {
      // Open models show their reasoning itself, and no summary of it.
      const parts = item.summary?.length ? item.summary : (item.content ?? []);
      return parts.map(({ text = '' }) => ({ type: 'reasoning', text }));
    }
    default:
      return [];
  }
}

/** What stands beside the words of an item: the pages that it cites, or the proof of its reasoning. */
function readNotes({ type, content, encrypted_content: proof }: Item, pages: CitedPages): TextEvent[] {
  if (type === 'message') return pages.read(content ?? []);
  return type === 'reasoning' && proof ? [{ type: 'signature', signature: markSignature('responses', proof) }] : [];
}

function readItem(item: Item, pages: CitedPages): TextEvent[] {
  const parts = partsOf(item);
  if (isCall(item)) return [callEvent(item), ...parts];
  const text = item.type === 'reasoning' ? parts.map(eventText).join(PART_BREAK) : '';
  const said = item.type === 'reasoning' ? [{ type: 'reasoning' as const, text }] : parts;
  return [...said.filter((part) => eventText(part) !== ''), ...readNotes(item, pages)];
}

/** With the status 200 some servers send an error alone, which is of no type. */
function expectNoError(event: StreamEvent): [] {
  if (event.type === 'error' || event.error) throw reportedFailure(event.error ?? event);
  return [];
}

/** Of a response that is not finished, or never will be. */
const UNFINISHED: ReadonlySet<string | undefined> = new Set(['cancelled', 'in_progress', 'queued']);

export function readResponsesReply(answer: JsonObject): readonly TextEvent[] {
  const response = answer as Response;
  if (response.status === 'failed' || response.error) throw reportedFailure(response.error);
  const { output, status } = response;
  // What says neither words nor how it ended is no reply, whatever its status.
  const isNone = !Array.isArray(output) || (output.length === 0 && status === undefined);
  if (isNone || UNFINISHED.has(status)) throw brokenOff();
  const called = output.some(isCall);
  const pages = new CitedPages();
  const items = new ItemBreaks();
  const read = output.flatMap((item) => items.item(readItem(item, pages)));
  return [...read, finishEvent(response, called, readUsage(response))];
}
