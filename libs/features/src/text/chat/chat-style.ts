import {
  CHAT_LIMITS,
  type ChatReplyCall,
  type ChatRequest,
  type Citation,
  errorInStyle,
  type FinishEvent,
  type FinishReason,
  type GatewayError,
  isJsonObject,
  type JsonObject,
  type NativeBody,
  type TextEvent,
} from '#contracts';
import { parseBounded } from '#platform';
import { addToTopLevelObject } from '#providers';
import { asBuffer } from '../byte-matcher.js';
import { asJson } from '../json-object.js';
import { envelope, EVENT_STREAM, JoinedTexts, newTextId } from '../reply-parts.js';
import { withShortSchemas } from '../request-parts.js';
import type { ReplyContext, TextStreamEncoder, TextStyleCodec } from '../text-style-codec.js';
import { textOfArguments } from '../tool-arguments.js';
import { belongsToOnePart, followsItsCall, proofAtCall, reasoningDetail } from './chat-reasoning.js';
import { chatOutputLimit, namedBudget, offersLegacyFunctions, readChatRequest } from './read-chat-request.js';
import { chatAnnotation, chatAnswer, chatFinishReason, freeFormNames, writeChatUsage } from './write-chat-answer.js';

const [LIMIT] = CHAT_LIMITS;

type NativeBytes = Extract<NativeBody, { kind: 'bytes' }>;

/** Whether the caller wants to read the usage at the end of a stream. */
const isUsageAsked = ({ stream_options: options }: ChatRequest): boolean => options?.include_usage === true;

/** The usage of a stream is always asked for: it is what the request is charged by. */
const mustAsk = (body: ChatRequest): boolean => body.stream === true && !isUsageAsked(body);

function rewrittenBody(body: ChatRequest, added: number | undefined): JsonObject {
  const { max_tokens: _former, max_completion_tokens: _newer, ...rest } = asJson(body);
  const limit = chatOutputLimit(body) ?? added;
  const name = CHAT_LIMITS.find((each) => body[each] != null) ?? LIMIT;
  return {
    ...rest,
    ...(limit !== undefined && { [name]: limit }),
    ...(mustAsk(body) && { stream_options: { ...asJson(body.stream_options ?? {}), include_usage: true } }),
  };
}

/** The bytes with the wish for usage, if they have a place for it; it stands in front when they do not name its field. */
function askingForUsage(body: ChatRequest, bytes: Uint8Array): Pick<NativeBytes, 'bytes' | 'front'> | null {
  if (!mustAsk(body)) return { bytes };
  const options = body.stream_options;
  if (!('stream_options' in body)) return { bytes, front: { stream_options: { include_usage: true } } };
  if (!options || 'include_usage' in options) return null;
  const asking = addToTopLevelObject(asBuffer(bytes), 'stream_options', '"include_usage":true');
  return asking && { bytes: asking };
}

/**
 * The body for an upstream of the same style. The bytes stay as they are but for what the gateway must add to the front:
 * a limit where the caller set none, and the wish for the usage of a stream. Bytes that pass have the limit under one of its
 * names, once, in the bytes or in front of them.
 */
function nativeChatBody(body: ChatRequest, bytes: Uint8Array | undefined, limit: number | undefined): NativeBody {
  let rewritten: JsonObject | undefined;
  const parsed = (): JsonObject => (rewritten ??= rewrittenBody(body, limit));
  const asking = bytes && askingForUsage(body, bytes);
  const named = CHAT_LIMITS.filter((name) => name in body).length;
  if (!asking || named !== (limit === undefined && chatOutputLimit(body) !== undefined ? 1 : 0))
    return { kind: 'rewritten', body: parsed() };
  if (limit === undefined) return { kind: 'bytes', ...asking, parsed };
  return { kind: 'bytes', ...asking, front: { [LIMIT]: limit, ...asking.front }, parsed };
}

/** What the chunk holds that tells nothing but the usage: it has no choices. */
const WITHOUT_CHOICES = /"choices"\s*:\s*\[\s*\]/;

/**
 * Takes the chunk of the usage out of whole events that pass through: where the caller did not ask for it, the gateway
 * did. Other events stay byte for byte.
 */
export function withoutUsageChunk(events: Uint8Array): Uint8Array {
  const bytes = asBuffer(events);
  if (!WITHOUT_CHOICES.test(bytes.toString('latin1'))) return events;
  // A blank line ends an event, and is kept with it.
  const kept = bytes
    .toString('utf8')
    .split(/(?<=\n\r?\n)/)
    .filter((event) => !isUsageChunk(event));
  return Buffer.from(kept.join(''));
}

function isUsageChunk(event: string): boolean {
  const data = /^data: ?(\{.*\})\s*$/m.exec(event)?.[1];
  if (data === undefined) return false;
  try {
    const chunk: unknown = parseBounded(data);
    if (!isJsonObject(chunk) || !isJsonObject(chunk['usage'])) return false;
    // One that holds something of the prompt has no choices either, but no usage.
    return Array.isArray(chunk['choices']) && chunk['choices'].length === 0;
  } catch {
    return false;
  }
}

const DONE = 'data: [DONE]\n\n';

/** What comes behind these is another text, though it stands in the same content. */
const ENDS_TEXT: ReadonlySet<TextEvent['type']> = new Set(['break', 'reasoning', 'call', 'step']);

/** Writes a reply as a native chat completions stream: one choice whose delta grows, the usage in a chunk of its own. */
class ChatStream implements TextStreamEncoder {
  readonly contentType = EVENT_STREAM;
  private readonly requestId: string;
  private readonly wantsUsage: boolean;
  /** Everything of a chunk that stands before its choices. */
  private readonly head: string;
  /** What follows the choices: the usage is null until it is known, where it was asked for. */
  private readonly tail: string;
  private started = false;
  private relayed = false;
  private thoughts = 0;
  private thought = '';
  private proof: string | undefined;
  private calls = 0;
  private readonly content = new JoinedTexts();
  private readonly reasoning = new JoinedTexts();
  /** Where in the content the open text begins. */
  private textFrom = 0;
  private isInText = false;
  /** Whether the open call has arguments yet; undefined when none is open. */
  private hasArguments: boolean | undefined;
  /** The open call of a free-form tool, held until it is whole; undefined when another or none is open. */
  private textCall: { readonly id: string; readonly name: string; json: string } | undefined;
  private readonly freeForm: ReadonlySet<string>;
  /** Whether calls are written in the form that has place for one. */
  private readonly isLegacy: boolean;

  constructor({ requestId, model, createdSeconds, body }: ReplyContext<ChatRequest>) {
    this.requestId = requestId;
    this.wantsUsage = isUsageAsked(body);
    this.freeForm = freeFormNames(body);
    this.isLegacy = offersLegacyFunctions(body);
    const head = { id: newTextId('chatcmpl_'), object: 'chat.completion.chunk', created: createdSeconds, model };
    this.head = `data: ${JSON.stringify(head).slice(0, -1)},"choices":[`;
    this.tail = this.wantsUsage ? '],"usage":null}\n\n' : ']}\n\n';
  }

  write(event: TextEvent): string {
    this.keepApart(event.type);
    switch (event.type) {
      case 'text':
        this.endThought();
        this.endProof();
        return this.begin('""') + this.piece('content', this.placed(event.text));
      case 'refusal':
        this.endThought();
        this.endProof();
        return this.begin('null') + this.piece('refusal', event.text);
      case 'reasoning':
        this.thought += event.text;
        return this.begin('""') + this.piece('reasoning_content', this.reasoning.add(event.text));
      case 'signature':
        return this.sign(event.signature);
      case 'call':
        this.endThought();
        return this.begin('null') + this.openCall(event.id, event.name);
      case 'arguments':
        return this.growOpenCall(event.json);
      case 'finish':
        return this.closeCall(event.reason) + this.begin('""') + this.finish(event);
      default:
        return event.type === 'citation' ? this.cite(event.citation) : '';
    }
  }

  relay(events: Uint8Array): Uint8Array {
    this.relayed = true;
    return this.wantsUsage ? events : withoutUsageChunk(events);
  }

  /** Ends what an event does not continue. */
  private keepApart(type: TextEvent['type']): void {
    this.isInText &&= type === 'text' || type === 'citation';
    if (type !== 'reasoning') this.reasoning.cut();
    if (ENDS_TEXT.has(type)) this.content.cut();
  }

  /** What passes through has an end of its own. */
  end(): string {
    return this.relayed ? '' : DONE;
  }

  heartbeat(): string {
    return ': keepalive\n\n';
  }

  fail(error: GatewayError): readonly string[] {
    return [`data: ${JSON.stringify(errorInStyle('chat', error, this.requestId))}\n\n`];
  }

  private chunk(delta: string, finish = 'null'): string {
    return `${this.head}{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}${this.tail}`;
  }

  /** What stands before a new piece: the end of an open call, and once the role. */
  private begin(content: '""' | 'null'): string {
    if (this.started) return this.closeCall();
    this.started = true;
    return this.chunk(`{"role":"assistant","content":${content}}`);
  }

  /** Comes once a token, so that only the piece itself is serialised. */
  private piece(field: 'content' | 'refusal' | 'reasoning_content', text: string): string {
    return this.chunk(`{"${field}":${JSON.stringify(text)}}`);
  }

  /** The proof goes out with the whole thought, and again at the call that follows: clients keep the one or the other. */
  private sign(signature: string): string {
    if (followsItsCall(signature)) return this.signCall(signature);
    const begun = this.begin('""');
    const detail = reasoningDetail({ type: 'reasoning', text: this.thought, signature }, this.thoughts);
    if (!detail) return begun;
    this.proof = signature;
    this.thoughts += 1;
    this.thought = '';
    return begun + this.chunk(JSON.stringify({ reasoning_details: [detail] }));
  }

  /** A proof that came when its call had gone out. */
  private signCall(signature: string): string {
    if (this.hasArguments === undefined || this.isLegacy) return '';
    const call = { index: this.calls - 1, extra_content: proofAtCall(signature) };
    return this.chunk(JSON.stringify({ tool_calls: [call] }));
  }

  private cite(citation: Citation): string {
    return this.chunk(JSON.stringify({ annotations: [chatAnnotation(citation, this.textFrom)] }));
  }

  /** Citations count from the beginning of the content. */
  private placed(text: string): string {
    const placed = this.content.add(text);
    if (!this.isInText) this.textFrom = this.content.length - text.length;
    this.isInText = true;
    return placed;
  }

  private endThought(): void {
    if (this.thought !== '') this.thoughts += 1;
    this.thought = '';
  }

  /** A proof of the text that begins belongs to no call behind it. */
  private endProof(): void {
    if (this.proof !== undefined && belongsToOnePart(this.proof)) this.proof = undefined;
  }

  private openCall(id: string, name: string): string {
    // A text inside of JSON is whole when the JSON is.
    if (this.freeForm.has(name)) {
      this.textCall = { id, name, json: '' };
      return '';
    }
    if (this.isLegacy && this.calls > 0) return '';
    this.hasArguments = false;
    return this.addCall({ id, type: 'function', function: { name, arguments: '' } });
  }

  private addCall(added: ChatReplyCall): string {
    const proof = this.proof === undefined ? {} : { extra_content: proofAtCall(this.proof) };
    const call = { index: this.calls, ...added, ...proof };
    this.calls += 1;
    this.proof = undefined;
    if (this.isLegacy && added.type === 'function')
      return this.chunk(JSON.stringify({ function_call: added.function }));
    return this.chunk(JSON.stringify({ tool_calls: [call] }));
  }

  private growOpenCall(json: string): string {
    if (this.textCall) this.textCall.json += json;
    return this.hasArguments === undefined ? '' : this.growCall(json);
  }

  private growCall(json: string): string {
    if (json === '') return '';
    this.hasArguments = true;
    if (this.isLegacy) return this.chunk(`{"function_call":{"arguments":${JSON.stringify(json)}}}`);
    const piece = `{"index":${this.calls - 1},"function":{"arguments":${JSON.stringify(json)}}}`;
    return this.chunk(`{"tool_calls":[${piece}]}`);
  }

  /** A call without arguments has an empty object of them: clients parse the text. */
  private closeCall(end?: FinishReason): string {
    const filled = this.hasArguments === false ? this.growCall('{}') : '';
    this.hasArguments = undefined;
    const call = this.textCall;
    if (!call) return filled;
    this.textCall = undefined;
    const input = textOfArguments(call.json, end);
    if (input === undefined) return '';
    return this.addCall({ id: call.id, type: 'custom', custom: { name: call.name, input } });
  }

  private finish({ reason, usage }: FinishEvent): string {
    const last = this.chunk('{}', JSON.stringify(chatFinishReason(reason, this.isLegacy)));
    return this.wantsUsage ? `${last}${this.head}],"usage":${JSON.stringify(writeChatUsage(usage))}}\n\n` : last;
  }
}

/** Chat completions, the interface that most programs speak. */
export const chatStyle: TextStyleCodec<ChatRequest> = {
  style: 'chat',
  read: (...sent) => withShortSchemas(readChatRequest(...sent)),
  native: nativeChatBody,
  outputLimit: chatOutputLimit,
  replies: ({ n }) => n ?? 1,
  thinkingBudget: namedBudget,
  thinkingBesideLimit: ({ thinking_budget: budget }) => budget ?? 0,
  answer: (reply, context) => envelope(JSON.stringify(chatAnswer(reply, context))),
  wrap: (json) => envelope(json),
  stream: (context) => new ChatStream(context),
};
