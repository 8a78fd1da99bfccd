import {
  type FinishReason,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  serviceTierOf,
  type TextEvent,
  type TextUsage,
} from '#contracts';
import { type AnnotatedText, CitedPages } from '../upstream/cited-pages.js';
import { brokenOff, parseReply } from '../upstream/codec-failures.js';
import type { StreamDecoder } from '../upstream/protocol-codec.js';
import { reportedFailure } from '../upstream/refused-by-upstream.js';
import { laterUsage, withTier } from '../upstream/reported-usage.js';
import { DONE, type EventData } from '../upstream/server-sent-events.js';
import { markSignature } from '../upstream/signatures.js';
import { ChatCalls, type ChatSentCalls } from './chat-calls.js';
import { IN_CONTENT, ReasoningDetails } from './chat-proofs.js';
import { type ChatUsage, readChatUsage } from './chat-usage.js';

/** The pages that vendors which search by themselves list beside their reply; its content cites them by number. */
interface ListedPages {
  /** Their addresses alone. */
  readonly citations?: unknown;
  readonly search_results?: unknown;
}

/** The mark of a page in the content, `[2]`, which is not the words of a link. */
const MARK = /\[(\d{1,3})\](?!\()/g;

const MARKS_MAX = 10_000;
const PAGES_MAX = 999;

/** The list as annotations of the content: at each mark of a page, and without a place for a page that has no mark. */
function annotationsOf(listed: ListedPages, content: string): readonly JsonObject[] {
  const pages = pagesIn(listed);
  if (pages.length === 0) return [];
  const unmarked = new Set(pages);
  const marked: JsonObject[] = [];
  let looks = 0;
  for (const { 0: mark, 1: number, index } of content.matchAll(MARK)) {
    if (++looks > MARKS_MAX) break;
    const page = pages[Number(number) - 1];
    if (!page) continue;
    unmarked.delete(page);
    marked.push({ ...page, start_index: index, end_index: index + mark.length });
  }
  const { length } = content;
  return [...marked, ...[...unmarked].map((page) => ({ ...page, start_index: length, end_index: length }))];
}

/** Other vendors may have something else under these names, which is no reason to refuse their reply. */
const listIn = (sent: unknown): readonly unknown[] => (Array.isArray(sent) ? sent : []);

/** One list says of the pages what the other leaves out; the marks count in the list of addresses where there is one. */
function pagesIn({ citations, search_results: results }: ListedPages): readonly JsonObject[] {
  const found = listIn(results).filter((result) => isJsonObject(result));
  const cited = listIn(citations);
  const urls = cited.length > 0 ? cited : found.map(({ url }) => url);
  const byUrl = new Map<unknown, Readonly<Record<string, unknown>>>(
    found.toReversed().map((result) => [result['url'], result]),
  );
  return urls.slice(0, PAGES_MAX).map((url) => {
    const { title, snippet } = byUrl.get(url) ?? {};
    return {
      type: 'url_citation',
      ...(typeof url === 'string' && { url }),
      ...(typeof title === 'string' && { title }),
      ...(typeof snippet === 'string' && { content: snippet }),
    };
  });
}

/** A part of a content that is no plain text. */
interface ChatPart {
  readonly type?: string;
  readonly text?: string;
  readonly thinking?: readonly { readonly text?: string }[];
}

/** Some vendors write parts, in deltas too. */
type ChatContent = string | readonly ChatPart[] | null | undefined;

/** A message or a delta: the same fields, whole or in pieces. */
interface ChatMessage extends ChatSentCalls {
  readonly content?: ChatContent;
  readonly refusal?: string | null;
  /** The two names vendors give to visible reasoning. */
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  /** One vendor's name for it, who takes none back. */
  readonly reasoning_text?: string | null;
  /** A vendor's whole account of it, with its proofs; some write it there alone. */
  readonly reasoning_details?: readonly JsonObject[] | null;
  /** Where some vendors put the images that a model makes. */
  readonly images?: readonly { readonly image_url?: { readonly url?: string } }[] | null;
  /** Pages that a vendor cites which searches by itself; their places count in the whole content. */
  readonly annotations?: AnnotatedText['annotations'];
  /** Where one vendor writes the proof of the call that follows. */
  readonly extra_content?: JsonValue;
}

interface ChatChoice {
  /** Another vendor's place for the usage of a stream. */
  readonly usage?: ChatUsage | null;
  readonly index?: number;
  readonly message?: ChatMessage;
  readonly delta?: ChatMessage;
  readonly finish_reason?: string | null;
  /** What ended the reply at the server behind this one. */
  readonly native_finish_reason?: string | null;
  /** A failure in the middle of a reply, where some servers report it. */
  readonly error?: unknown;
  /** Some servers say here which stop sequence ended the reply. */
  readonly stop_reason?: string | number | null;
}

interface ChatReply extends ListedPages {
  readonly error?: unknown;
  /** Some servers write `error` here, and what it is beside it. */
  readonly object?: unknown;
  readonly usage?: ChatUsage | null;
  readonly service_tier?: unknown;
  /** One vendor's place for the usage of a stream. */
  readonly x_groq?: { readonly usage?: ChatUsage | null } | null;
  readonly choices?: readonly ChatChoice[] | null;
}

const FINISH_REASONS: Record<string, FinishReason> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
  // The words of other vendors, and those of other protocols that some servers hand on as they come.
  model_length: 'length',
  max_length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool-calls',
  sensitive: 'content-filter',
  'content-filter': 'content-filter',
  refusal: 'content-filter',
  safety: 'content-filter',
  recitation: 'content-filter',
  blocklist: 'content-filter',
  prohibited_content: 'content-filter',
  spii: 'content-filter',
};

/** Reasons of servers that lost the reply in its middle: what came is not whole, however it looks. */
const LOST = /^(error|network_error|insufficient_system_resource|abort)$/;

/** @throws GatewayError `upstream_error` where the reply was lost. */
function finishReason(sent: string, native: string | null | undefined): FinishReason {
  const lost = [sent, native].find((reason) => reason != null && LOST.test(reason));
  if (lost) throw reportedFailure({ type: lost });
  return FINISH_REASONS[sent.toLowerCase()] ?? 'stop';
}

const reportIn = ({ usage, choices, x_groq: other }: ChatReply): ChatUsage | null | undefined =>
  usage ?? choices?.[0]?.usage ?? other?.usage;

const textIn = (content: ChatContent): string | undefined =>
  typeof content === 'string' ? content : content?.map((part) => part.text ?? '').join('');

const thoughtsIn = (content: ChatContent): string | undefined =>
  typeof content === 'string'
    ? undefined
    : content?.flatMap((part) => (part.thinking ?? []).map((thought) => thought.text ?? '')).join('');

/** Each list as it came last: a stream repeats it. */
const listedIn = ({ citations, search_results }: ChatReply): ListedPages => ({
  ...(citations ? { citations } : {}),
  ...(search_results ? { search_results } : {}),
});

const detailsIn = (details: ChatMessage['reasoning_details']): string | undefined =>
  details?.map(({ text, summary }) => [text, summary].find((said) => typeof said === 'string') ?? '').join('');

/** Other styles have no image in a reply; as a Markdown image it is at least not lost. */
const imagesIn = ({ images }: ChatMessage): TextEvent[] =>
  (images ?? []).flatMap(({ image_url: image }) =>
    image?.url ? [{ type: 'text', text: `![image](${image.url})` }] : [],
  );

export class ChatStreamDecoder implements StreamDecoder {
  private readonly calls = new ChatCalls();
  private reason: FinishReason | undefined;
  private stopSequence: string | undefined;
  /** The field in which the vendor writes the reasoning that is open, and wants it back. */
  private reasoningField: 'reasoning_content' | 'reasoning' | typeof IN_CONTENT | undefined;
  private readonly details = new ReasoningDetails();
  /** Whether reasoning stands in front of what comes next: what is told of it later does not cut a text in two. */
  private isThought = true;
  private hasReasoned = false;
  private hasSpoken = false;
  /** Whether there is a reply, however little it says: some servers end a stream that has none. */
  private hasBegun = false;
  private usage: TextUsage | undefined;
  private tier: TextUsage['tier'];
  private readonly pages = new CitedPages();
  /** The content until now, and what has been noted about it. */
  private content = '';
  private annotations: unknown[] = [];
  /** The pages listed beside the reply; undefined once they have been told, or as annotations. */
  private listed: ListedPages | undefined = {};

  push(data: EventData): readonly TextEvent[] {
    if (data !== DONE) return this.read(parseReply(data));
    if (this.hasBegun) this.over();
    return [];
  }

  /** Its vendor says that the reply is over: some never name a reason. */
  over(): void {
    this.reason ??= 'stop';
  }

  /**
   * Reads one chunk, or a whole reply, which has the same shape with `message` for `delta`. Only a stream that passes through
   * has several choices; all of them are read, so that all are counted.
   */
  read(reply: ChatReply): readonly TextEvent[] {
    if (reply.error || reply.object === 'error') throw reportedFailure(reply.error ?? reply);
    const usage = reportIn(reply);
    if (usage) this.usage = laterUsage(this.usage, readChatUsage(usage));
    if (reply.service_tier) this.tier = serviceTierOf(reply.service_tier);
    if (this.listed && (reply.citations || reply.search_results)) this.listed = { ...this.listed, ...listedIn(reply) };
    const choices = reply.choices ?? [];
    this.hasBegun ||= choices.length > 0;
    // Nearly every reply has a single one.
    return choices.length === 1 && choices[0]
      ? this.readChoice(choices[0])
      : choices.flatMap((choice) => this.readChoice(choice));
  }

  private readChoice(choice: ChatChoice): TextEvent[] {
    if (choice.error) throw reportedFailure(choice.error);
    if (choice.finish_reason) this.reason = finishReason(choice.finish_reason, choice.native_finish_reason);
    if (typeof choice.stop_reason === 'string') this.stopSequence = choice.stop_reason;
    const message = choice.delta ?? this.unsaid(choice.message ?? {});
    for (const annotation of message.annotations ?? []) this.annotations.push(annotation);
    return this.readMessage(message);
  }

  /** Some servers end a stream with the whole message: nothing that came in pieces is said again. */
  private unsaid(message: ChatMessage): ChatMessage {
    // Nothing has come in pieces, as in every whole reply: a copy would cost more than reading it.
    if (!this.hasReasoned && !this.hasSpoken && !this.calls.some) return message;
    const { content, refusal, tool_calls, function_call, ...others } = message;
    const { reasoning_content, reasoning, reasoning_text, reasoning_details, ...rest } = others;
    const thoughts = { reasoning_content, reasoning, reasoning_text, reasoning_details };
    return {
      ...rest,
      ...(this.hasReasoned ? {} : thoughts),
      ...(this.hasSpoken ? {} : { content, refusal }),
      ...(this.calls.some ? {} : { tool_calls, function_call }),
    };
  }

  end(): readonly TextEvent[] {
    if (this.reason === undefined) throw brokenOff();
    return [...this.citations(), ...this.proof(), ...this.calls.held(), this.finish(this.reason)];
  }

  reportedUsage(): TextUsage | undefined {
    return this.usage && withTier(this.usage, this.tier);
  }

  heldBack(): string {
    return this.calls.heldArguments;
  }

  private readMessage(message: ChatMessage): TextEvent[] {
    const events = this.readReasoning(message);
    const text = textIn(message.content);
    const { refusal } = message;
    this.calls.announce(message.extra_content);
    const calls = this.calls.in(message);
    const speaks = Boolean(text) || Boolean(refusal);
    if (calls.length > 0 || (speaks && this.isThought)) events.push(...this.proof());
    this.hasSpoken ||= speaks;
    if (speaks) this.calls.interrupt();
    if (text) {
      this.content += text;
      events.push({ type: 'text', text });
    }
    if (calls.length > 0) events.push(...this.citations());
    if (refusal) events.push({ type: 'refusal', text: refusal });
    events.push(...imagesIn(message));
    for (const [place, call] of calls.entries()) events.push(...this.calls.read(call, place));
    return events;
  }

  private readReasoning({
    reasoning_content: content,
    reasoning,
    content: parts,
    ...others
  }: ChatMessage): TextEvent[] {
    const thoughts = thoughtsIn(parts);
    const text = content || reasoning || others.reasoning_text || thoughts || detailsIn(others.reasoning_details);
    this.details.add(others.reasoning_details ?? []);
    if (!text) return [];
    this.isThought = true;
    this.hasReasoned = true;
    if (content) this.reasoningField = 'reasoning_content';
    else if (reasoning) this.reasoningField = 'reasoning';
    else if (thoughts) this.reasoningField ??= IN_CONTENT;
    return [{ type: 'reasoning', text }];
  }

  /** What is noted about the content follows it while it is still the last that was said. */
  private citations(): TextEvent[] {
    const listed = this.annotations.length > 0 || !this.listed ? [] : annotationsOf(this.listed, this.content);
    const annotations = listed.length > 0 ? listed : this.annotations;
    if (annotations.length === 0) return [];
    this.listed = undefined;
    this.annotations = [];
    return this.pages.read([{ text: this.content, annotations }]);
  }

  /** Most of these vendors sign nothing. A stand-in for a proof says where the reasoning belongs when it is sent back. */
  private proof(): TextEvent[] {
    const proof = this.details.take(this.reasoningField) ?? this.reasoningField;
    this.reasoningField = undefined;
    this.isThought = false;
    return proof === undefined ? [] : [{ type: 'signature', signature: markSignature('chat', proof) }];
  }

  private finish(sent: FinishReason): TextEvent {
    const reported = this.reportedUsage();
    const usage = reported ? { usage: reported } : {};
    if (sent === 'stop' && this.calls.some) return { type: 'finish', reason: 'tool-calls', ...usage };
    if (sent === 'stop' && this.stopSequence !== undefined)
      return { type: 'finish', reason: 'stop-sequence', stopSequence: this.stopSequence, ...usage };
    return { type: 'finish', reason: sent, ...usage };
  }
}

/**
 * Reads a whole chat completion as the events it would have been. Only one that passes through holds several replies; what
 * the others say stands behind the first, so that it is counted.
 */
export function readChatReply(answer: JsonObject): readonly TextEvent[] {
  const decoder = new ChatStreamDecoder();
  const reply: ChatReply = answer;
  const choices = reply.choices ?? [];
  // Copying a reply costs more than reading it, and nearly every one has a single choice.
  if (choices.length < 2) return whole(decoder, reply);
  const first = whole(decoder, { ...reply, choices: choices.slice(0, 1) });
  const others = choices.slice(1).flatMap((choice) => whole(new ChatStreamDecoder(), { choices: [choice] }));
  return [...first.slice(0, -1), ...others.filter(({ type }) => type !== 'finish'), ...first.slice(-1)];
}

function whole(decoder: ChatStreamDecoder, reply: ChatReply): readonly TextEvent[] {
  const events = decoder.read(reply);
  if (reply.choices?.[0]?.message) decoder.over();
  return [...events, ...decoder.end()];
}
