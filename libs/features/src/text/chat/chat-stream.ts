import {
  type ChatReplyCall,
  type ChatRequest,
  type Citation,
  errorInStyle,
  type FinishEvent,
  type FinishReason,
  type GatewayError,
  type TextEvent,
} from '#contracts';
import { chatAnnotation } from '../hosted-tools/chat-annotations.js';
import { textOfArguments } from '../free-form-tools.js';
import { EVENT_STREAM } from '../server-sent-event.js';
import { newTextId } from '../text-id.js';
import type { ReplyContext, TextStreamEncoder } from '../text-style-codec.js';
import { belongsToOnePart, proofAtCall, reasoningDetail } from './chat-reasoning.js';
import { isUsageAsked } from './native-chat-body.js';
import { chatFinishReason, freeFormNames, writeChatUsage } from './write-chat-answer.js';
import { withoutUsageChunk } from './usage-chunk.js';

const DONE = 'data: [DONE]\n\n';

/** Writes a reply as a native chat completions stream: one choice whose delta grows, the usage in a chunk of its own. */
export class ChatStream implements TextStreamEncoder {
  readonly contentType = EVENT_STREAM;
  readonly #requestId: string;
  readonly #wantsUsage: boolean;
  /** Everything of a chunk that stands before its choices. */
  readonly #head: string;
  /** What follows the choices: the usage is null until it is known, where it was asked for. */
  readonly #tail: string;
  #started = false;
  #relayed = false;
  #thoughts = 0;
  #thought = '';
  #proof: string | undefined;
  #calls = 0;
  /** How long the content is, and where in it the open text begins. */
  #content = 0;
  #textFrom = 0;
  #isInText = false;
  /** Whether the open call has arguments yet; undefined when none is open. */
  #hasArguments: boolean | undefined;
  /** The open call of a free-form tool, held until it is whole; undefined when another or none is open. */
  #textCall: { readonly id: string; readonly name: string; json: string } | undefined;
  readonly #freeForm: ReadonlySet<string>;

  constructor({ requestId, model, createdSeconds, body }: ReplyContext<ChatRequest>) {
    this.#requestId = requestId;
    this.#wantsUsage = isUsageAsked(body);
    this.#freeForm = freeFormNames(body);
    const head = { id: newTextId('chatcmpl_'), object: 'chat.completion.chunk', created: createdSeconds, model };
    this.#head = `data: ${JSON.stringify(head).slice(0, -1)},"choices":[`;
    this.#tail = this.#wantsUsage ? '],"usage":null}\n\n' : ']}\n\n';
  }

  write(event: TextEvent): string {
    this.#isInText &&= event.type === 'text' || event.type === 'citation';
    switch (event.type) {
      case 'text':
        this.#endThought();
        this.#endProof();
        this.#measure(event.text);
        return this.#begin('""') + this.#piece('content', event.text);
      case 'refusal':
        this.#endThought();
        this.#endProof();
        return this.#begin('null') + this.#piece('refusal', event.text);
      case 'reasoning':
        this.#thought += event.text;
        return this.#begin('""') + this.#piece('reasoning_content', event.text);
      case 'signature':
        return this.#begin('""') + this.#sign(event.signature);
      case 'call':
        this.#endThought();
        return this.#begin('null') + this.#openCall(event.id, event.name);
      case 'arguments':
        return this.#growOpenCall(event.json);
      case 'finish':
        return this.#closeCall(event.reason) + this.#begin('""') + this.#finish(event);
      default:
        return event.type === 'citation' ? this.#cite(event.citation) : '';
    }
  }

  relay(events: Uint8Array): Uint8Array {
    this.#relayed = true;
    return this.#wantsUsage ? events : withoutUsageChunk(events);
  }

  /** What passes through has an end of its own. */
  end(): string {
    return this.#relayed ? '' : DONE;
  }

  heartbeat(): string {
    return ': keepalive\n\n';
  }

  fail(error: GatewayError): readonly string[] {
    return [`data: ${JSON.stringify(errorInStyle('chat', error, this.#requestId))}\n\n`];
  }

  #chunk(delta: string, finish = 'null'): string {
    return `${this.#head}{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}${this.#tail}`;
  }

  /** What stands before a new piece: the end of an open call, and once the role. */
  #begin(content: '""' | 'null'): string {
    if (this.#started) return this.#closeCall();
    this.#started = true;
    return this.#chunk(`{"role":"assistant","content":${content}}`);
  }

  /** Comes once a token, so that only the piece itself is serialised. */
  #piece(field: 'content' | 'refusal' | 'reasoning_content', text: string): string {
    return this.#chunk(`{"${field}":${JSON.stringify(text)}}`);
  }

  /** The proof goes out with the whole thought, and again at the call that follows: clients keep the one or the other. */
  #sign(signature: string): string {
    const detail = reasoningDetail({ type: 'reasoning', text: this.#thought, signature }, this.#thoughts);
    if (!detail) return '';
    this.#proof = signature;
    this.#thoughts += 1;
    this.#thought = '';
    return this.#chunk(JSON.stringify({ reasoning_details: [detail] }));
  }

  #cite(citation: Citation): string {
    return this.#chunk(JSON.stringify({ annotations: [chatAnnotation(citation, this.#textFrom)] }));
  }

  /** Citations count from the beginning of the content. */
  #measure(text: string): void {
    if (!this.#isInText) this.#textFrom = this.#content;
    this.#isInText = true;
    this.#content += text.length;
  }

  #endThought(): void {
    if (this.#thought !== '') this.#thoughts += 1;
    this.#thought = '';
  }

  /** A proof of the text that begins belongs to no call behind it. */
  #endProof(): void {
    if (this.#proof !== undefined && belongsToOnePart(this.#proof)) this.#proof = undefined;
  }

  #openCall(id: string, name: string): string {
    // A text inside of JSON is whole when the JSON is.
    if (this.#freeForm.has(name)) {
      this.#textCall = { id, name, json: '' };
      return '';
    }
    this.#hasArguments = false;
    return this.#addCall({ id, type: 'function', function: { name, arguments: '' } });
  }

  #addCall(added: ChatReplyCall): string {
    const proof = this.#proof === undefined ? {} : { extra_content: proofAtCall(this.#proof) };
    const call = { index: this.#calls, ...added, ...proof };
    this.#calls += 1;
    this.#proof = undefined;
    return this.#chunk(JSON.stringify({ tool_calls: [call] }));
  }

  #growOpenCall(json: string): string {
    if (this.#textCall) this.#textCall.json += json;
    return this.#hasArguments === undefined ? '' : this.#growCall(json);
  }

  #growCall(json: string): string {
    if (json === '') return '';
    this.#hasArguments = true;
    const piece = `{"index":${this.#calls - 1},"function":{"arguments":${JSON.stringify(json)}}}`;
    return this.#chunk(`{"tool_calls":[${piece}]}`);
  }

  /** A call without arguments has an empty object of them: clients parse the text. */
  #closeCall(end?: FinishReason): string {
    const filled = this.#hasArguments === false ? this.#growCall('{}') : '';
    this.#hasArguments = undefined;
    const call = this.#textCall;
    if (!call) return filled;
    this.#textCall = undefined;
    const input = textOfArguments(call.json, end);
    if (input === undefined) return '';
    return this.#addCall({ id: call.id, type: 'custom', custom: { name: call.name, input } });
  }

  #finish({ reason, usage }: FinishEvent): string {
    const last = this.#chunk('{}', JSON.stringify(chatFinishReason(reason)));
    return this.#wantsUsage ? `${last}${this.#head}],"usage":${JSON.stringify(writeChatUsage(usage))}}\n\n` : last;
  }
}
