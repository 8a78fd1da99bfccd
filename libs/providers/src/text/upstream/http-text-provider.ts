import {
  eventText,
  GatewayError,
  type JsonObject,
  type NativeBody,
  REFUSE_UNPRICED,
  type StopSignal,
  type TextCall,
  type TextEvent,
  type TextProvider,
  type TextReply,
  type TextRequest,
  type UpstreamPolicy,
} from '#contracts';
import { jsonBytes, logger, nextTurn, PieceCount, wellFormedJson } from '#platform';
import type { ReplyHead } from '../../http/reply-head.js';
import { ReplyTooLarge } from '../../http/reply-too-large.js';
import { inOwnNames, withAcceptedNames } from './accepted-names.js';
import { AnswerTaker, withAnswerInObject } from './answer-in-object.js';
import { BodyReader } from './body-reader.js';
import { brokenOff, parseReply } from './codec-failures.js';
import {
  refusedByUpstream,
  type RefusedRequest,
  refusesProof,
  upstreamRequestId,
  withoutSecrets,
} from './refused-by-upstream.js';
import { permittedBody, permittedHeaders, permittedRequest } from './permitted.js';
import type { ProtocolCodec, ProtocolOptions, StreamDecoder } from './protocol-codec.js';
import { RelayTap } from './relay-tap.js';
import { DONE, eventData, EventSplitter } from './server-sent-events.js';
import { accountMark, madeBy, withProofsOf } from './signatures.js';
import { replaceTopLevelString } from './top-level-field.js';
import {
  MAX_REPLY_BYTES,
  networkFailure,
  readText,
  REPLY_MS_MAX,
  type RequestBytes,
  type UpstreamHttp,
  type UpstreamReply,
} from './upstream-http.js';
import { eventsWithoutCharges, withoutCharges } from './without-charges.js';

/** JSON of a text as it stands in bytes that are read as Latin-1, one character a byte. */
const asBytes = (text: string): string => Buffer.from(JSON.stringify(text)).toString('latin1');

/**
 * Shows the caller of a stream the model's name that it knows, in each event that holds the upstream's name. All else
 * stays byte for byte: the bytes are read and written as Latin-1, which loses none and is far quicker than UTF-8.
 */
export function streamRenamer({
  model,
  upstreamModel,
}: {
  readonly model: string;
  readonly upstreamModel: string;
}): (events: Buffer) => Buffer {
  if (model === upstreamModel) return (events) => events;
  const [hidden, shown] = [asBytes(upstreamModel), asBytes(model)];
  const escaped = hidden.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const named = new RegExp(String.raw`"model(?:Version)?"\s*:\s*${escaped}`, 'g');
  return (events) => {
    const text = events.toString('latin1');
    let renamed = '';
    let copied = 0;
    // A loop: `replace` takes twice as long, once a token.
    while (named.test(text)) {
      renamed += text.slice(copied, named.lastIndex - hidden.length) + shown;
      copied = named.lastIndex;
    }
    return copied === 0 ? events : Buffer.from(renamed + text.slice(copied), 'latin1');
  };
}

/** The longest stream, in bytes: a million tokens with what the dearest protocol says of each, or ten large images. */
const STREAM_BYTES_MAX = 512 * 1024 * 1024;

/** The most that may come without an event that says something; a comment each second takes a day for it. */
const EMPTY_BYTES_MAX = 1024 * 1024;

/** An event with something in its data. Looked for over the bytes as text. */
const SAYS_SOMETHING = /(?:^|\n|\r)data: ?(?!\{\}\s)[^\s]/;

/** Ends a stream whose vendor sends without end: events, or what keeps a connection open and carries nothing. */
export class StreamBounds {
  readonly #begunMs: number;
  readonly #pieces: PieceCount;
  #bytes = 0;
  #emptyBytes = 0;
  #hasBegun = false;

  constructor(private readonly now = () => performance.now()) {
    this.#begunMs = now();
    this.#pieces = new PieceCount(undefined, now);
  }

  /**
   * Counts what came.
   *
   * @throws GatewayError `upstream_error` where it is too much, `upstream_timeout` where the stream is too old.
   */
  count(bytes: Buffer): void {
    this.#bytes += bytes.length;
    if (this.#bytes > STREAM_BYTES_MAX) throw new ReplyTooLarge();
    if (this.#pieces.isTooMany(bytes)) throw new ReplyTooLarge(undefined, this.#pieces.fault);
    if (this.now() - this.#begunMs > REPLY_MS_MAX)
      throw new GatewayError('upstream_timeout', 'The upstream took too long.');
  }

  /** Takes note of whole events. @throws GatewayError `upstream_error` where too much of them said nothing, or nothing but the end came. */
  see(events: Buffer): void {
    if (!this.#hasBegun) this.#begin(events.toString('latin1'));
    this.#emptyBytes += events.length;
    // Looked at once in a while alone: most events say something.
    if (this.#emptyBytes < EMPTY_BYTES_MAX) return;
    if (!SAYS_SOMETHING.test(events.toString('latin1')))
      throw new GatewayError('upstream_error', 'The upstream sent much that says nothing.');
    this.#emptyBytes = 0;
  }

  #begin(events: string): void {
    const first = SAYS_SOMETHING.exec(events);
    if (first && events.startsWith(DONE, first.index + first[0].length - 1)) throw brokenOff();
    this.#hasBegun = first !== null;
  }
}

/** A consumer that throws instead of accepting an item has seen enough: the source is closed. */
async function isReady<T>(source: AsyncIterableIterator<T>, item: T, ready: (item: T) => boolean): Promise<boolean> {
  try {
    return ready(item);
  } catch (error) {
    await source.return?.();
    throw error;
  }
}

/**
 * Waits until `ready` accepts an item, so that what fails earlier fails here, and gives back the whole sequence from
 * its beginning. Leaving the sequence early closes its source.
 */
async function primed<T>(source: AsyncIterableIterator<T>, ready: (item: T) => boolean): Promise<AsyncIterable<T>> {
  const first: T[] = [];
  for (;;) {
    const step = await source.next();
    if (step.done) break;
    first.push(step.value);
    if (await isReady(source, step.value, ready)) break;
  }
  const iterator: AsyncIterator<T> = {
    next: () => {
      const value = first.shift();
      return value === undefined ? source.next() : Promise.resolve({ done: false, value });
    },
    return: () => source.return?.() ?? Promise.resolve({ done: true, value: undefined }),
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

/** The body's own bytes; only the model's name is another at some upstreams. */
function nativeBytes(native: NativeBody, call: TextCall): RequestBytes | Promise<RequestBytes> {
  if (native.kind === 'rewritten') {
    const named = 'model' in native.body ? { model: call.upstreamModel } : {};
    return jsonBytes({ ...native.body, ...named });
  }
  const { buffer, byteOffset, byteLength } = native.bytes;
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  const named = call.model === call.upstreamModel ? [bytes] : replaceTopLevelString(bytes, 'model', call.upstreamModel);
  return native.front ? withFront(named, native.front) : named;
}

const BRACE = 0x7b;

/** Fields in front of those of an object that is not empty. */
function withFront([first = Buffer.alloc(0), ...others]: RequestBytes, front: JsonObject): RequestBytes {
  // Mostly the first byte, which a search in native code takes longer for.
  const place = first[0] === BRACE ? 1 : first.indexOf(BRACE) + 1;
  const members = Buffer.from(`${JSON.stringify(front).slice(1, -1)},`);
  return [first.subarray(0, place), members, first.subarray(place), ...others];
}

/** Turns the events of one reply, in order, into those of a reply to what the caller asked. */
type ReadBack = (events: readonly TextEvent[]) => readonly TextEvent[];

/** A request in the form that the vendors of a protocol take. */
interface AcceptedRequest {
  readonly request: TextRequest;
  /** Begins to read one reply. */
  readonly readBack: () => ReadBack;
}

/** The request with names of functions and a form of the answer that the vendors of a protocol take. */
function acceptedRequest(asked: TextRequest, protocol: ProtocolCodec['protocol']): AcceptedRequest {
  const { request: named, ownNames } = withAcceptedNames(asked, protocol);
  const { format, isInObject } = withAnswerInObject(named.format, protocol);
  return {
    request: format === named.format ? named : { ...named, format },
    readBack: () => {
      if (!isInObject) return (events) => inOwnNames(events, ownNames);
      const taker = new AnswerTaker();
      return (events) => inOwnNames(taker.take(events), ownNames);
    },
  };
}

const log = logger('text');

/** The parts of a refusal's body that are worth reading, in bytes. */
const MAX_REFUSAL_BYTES = 64 * 1024;

/** Conversations of more turns are translated in steps, with other work in between. */
const MANY_TURNS = 500;

/** What makes an HTTP upstream: where it is, what it speaks, the key it wants. */
export interface HttpUpstream {
  readonly id: string;
  readonly codec: ProtocolCodec;
  readonly http: UpstreamHttp;
  readonly key: string | undefined;
  readonly options: ProtocolOptions;
  /** What may pass although the gateway has no price for it; nothing when it is left out. */
  readonly policy?: UpstreamPolicy;
  /** What proofs of reasoning belong to; the id where it is left out. */
  readonly vendorAccount?: string | undefined;
}

/** What an upstream is to be told: the caller's own body, or the request. */
type Input =
  | { readonly passesThrough: true; readonly sent: NativeBody }
  | { readonly passesThrough: false; readonly sent: TextRequest };

/** What an upstream is sent. */
interface Asked {
  readonly body: RequestBytes | Promise<RequestBytes>;
  /** Undefined where body and reply pass through as they are. */
  readonly readBack?: AcceptedRequest['readBack'];
}

/** A vendor behind HTTP, in any of the protocols. A request of the vendor's own protocol passes through byte for byte. */
export class HttpTextProvider implements TextProvider {
  readonly #upstream: HttpUpstream;
  /** What no caller may learn from an upstream's sentence. */
  readonly #secrets: readonly string[];
  readonly #account: string;

  constructor(upstream: HttpUpstream) {
    this.#upstream = upstream;
    this.#account = accountMark(upstream.vendorAccount ?? upstream.id);
    this.#secrets = [upstream.key, upstream.http.host].filter((secret) => secret !== undefined);
  }

  get id(): string {
    return this.#upstream.id;
  }

  get protocol(): ProtocolCodec['protocol'] {
    return this.#upstream.codec.protocol;
  }

  /** A vendor may refuse a proof that is cut, or that another account made: then it is asked once more without any. */
  async call(call: TextCall, signal: StopSignal): Promise<TextReply> {
    const input = this.#input(call, this.#account);
    try {
      return await this.#ask(call, input, signal);
    } catch (error) {
      if (signal.aborted || !refusesProof(error)) throw error;
      const bare = this.#input(call, undefined);
      if (bare.sent === input.sent) throw error;
      log.info('upstream.asked_without_proofs', { requestId: call.requestId, upstream: this.id, model: call.model });
      return await this.#ask(call, bare, signal);
    }
  }

  /** What is sent on, with the proofs of reasoning that the account made; undefined: with none. */
  #input(call: TextCall, account: string | undefined): Input {
    const { codec } = this.#upstream;
    return call.style === codec.protocol && call.isTranslated !== true
      ? { passesThrough: true, sent: call.native(account) }
      : { passesThrough: false, sent: withProofsOf(account, codec.protocol, call.request()) };
  }

  async #ask(call: TextCall, input: Input, signal: StopSignal): Promise<TextReply> {
    const { codec, http, key, policy = REFUSE_UNPRICED } = this.#upstream;
    const { passesThrough } = input;
    const asked = input.passesThrough
      ? { body: nativeBytes(this.#native(input.sent, call, policy), call) }
      : await this.#translated(input.sent, call);
    const readBack = asked.readBack?.();
    const body = await asked.body;
    const headers = { ...codec.headers(key), ...(passesThrough ? permittedHeaders(call.headers, policy) : {}) };
    const request = { upstreamModel: call.upstreamModel, sent: body };
    const path = codec.path(call.upstreamModel, call.stream);
    if (!call.stream) {
      const reply = await http.exchange(path, headers, body, { signal, accept: acceptJson });
      if (reply.status !== 200) throw this.#refusal(reply, reply.text, request);
      return identified(reply, this.#readBody(call, reply.text, readBack));
    }
    const reply = await http.post(path, headers, body, signal);
    if (reply.status !== 200) throw this.#refusal(reply, await readText(reply, signal, MAX_REFUSAL_BYTES), request);
    if (!isPlain(reply, 'text/event-stream')) {
      reply.body.destroy();
      throw ofAnotherType(reply);
    }
    return identified(reply, await this.#readStream(call, reply, readBack, signal));
  }

  #translated(asked: TextRequest, call: TextCall): Asked | Promise<Asked> {
    const { codec, options, policy = REFUSE_UNPRICED } = this.#upstream;
    const permitted = call.isTranslated === true ? permittedRequest(asked, policy) : asked;
    const accepted = acceptedRequest(permitted, codec.protocol);
    const write = (): JsonObject => codec.write(accepted.request, call.upstreamModel, options);
    if (accepted.request.turns.length > MANY_TURNS) return inSteps(accepted, write);
    return { body: jsonBytes(write(), wellFormedJson), readBack: accepted.readBack };
  }

  #native(native: NativeBody, call: TextCall, policy: UpstreamPolicy): NativeBody {
    const { codec, options } = this.#upstream;
    const body = permittedBody(native, call, policy);
    return codec.native?.(body, options, call.upstreamModel) ?? body;
  }

  #refusal(reply: ReplyHead, text: string, request: RefusedRequest): GatewayError {
    return withoutSecrets(refusedByUpstream(reply, text, request), this.#secrets);
  }

  /** @throws GatewayError `upstream_error` where a reply of a strange shape would end in a TypeError. */
  #understood<Read>(read: () => Read): Read {
    try {
      return read();
    } catch (error) {
      if (error instanceof GatewayError) throw withoutSecrets(error, this.#secrets);
      throw new GatewayError('upstream_error', 'The upstream sent something that is not part of its protocol.', {
        cause: error,
      });
    }
  }

  #readBody(call: TextCall, text: string, readBack: ReadBack | undefined): TextReply {
    const answer = parseReply(text);
    const events = this.#understood(() => this.#upstream.codec.read(answer));
    const usage = events.find((event) => event.type === 'finish')?.usage;
    call.onReply?.({ reportedUsage: () => usage, mayReasonUnasked: this.#upstream.codec.mayReasonUnasked });
    if (readBack) return { kind: 'whole', events: readBack(this.#understood(() => this.#said(events))) };
    const produced = usage?.outputTokens ? '' : events.map(eventText).join('');
    const sent = text.trim();
    const shown = withoutCharges(sent);
    const json = renameModel(shown, call);
    return {
      kind: 'body',
      json,
      answer: () => (shown === sent ? answer : parseReply(shown)),
      outcome: () => ({ usage, produced, failure: undefined }),
    };
  }

  async #readStream(
    call: TextCall,
    reply: UpstreamReply,
    readBack: ReadBack | undefined,
    signal: StopSignal,
  ): Promise<TextReply> {
    const { codec } = this.#upstream;
    const { mayReasonUnasked } = codec;
    if (readBack) {
      const decoder = codec.decoder();
      call.onReply?.({
        reportedUsage: () => decoder.reportedUsage(),
        heldBack: () => decoder.heldBack?.() ?? '',
        mayReasonUnasked,
      });
      const events = await primed(this.#events(reply, decoder, readBack, signal), (batch) =>
        batch.some(({ type }) => type !== 'start'),
      );
      return { kind: 'events', events };
    }
    const tap = new RelayTap(codec);
    call.onReply?.({ reportedUsage: () => tap.reportedUsage(), mayReasonUnasked });
    const frames = await primed(this.#frames(call, reply, tap, signal), () => {
      // Before anything else was said, another upstream may still answer, and it can still be an HTTP status.
      if (tap.failure) throw withoutSecrets(tap.failure, this.#secrets);
      return true;
    });
    return { kind: 'stream', frames, answer: () => tap.answer, outcome: () => tap.outcome() };
  }

  #events(
    reply: UpstreamReply,
    decoder: StreamDecoder,
    readBack: ReadBack,
    signal: StopSignal,
  ): BodyReader<readonly TextEvent[]> {
    const splitter = new EventSplitter();
    const bounds = new StreamBounds();
    const decode = (frames: Buffer): readonly TextEvent[] =>
      this.#understood(() => {
        bounds.see(frames);
        // A loop: `flatMap` looks up how to make an array, and makes two, for every token.
        const events: TextEvent[] = [];
        for (const data of eventData(frames.toString('utf8'))) events.push(...decoder.push(data));
        return readBack(this.#said(events));
      });
    const taker = {
      take: (bytes: Buffer) => {
        bounds.count(bytes);
        return unlessEmpty(decode(splitter.push(bytes)));
      },
      rest: () => unlessEmpty(decode(splitter.rest())),
      end: () => unlessEmpty(readBack(this.#understood(() => this.#said(decoder.end())))),
    };
    return new BodyReader(reply.body, taker, (error) => brokenBy(error, signal));
  }

  /**
   * The events with the account that made them in their proofs.
   *
   * @throws TypeError where what was said is no text, which callers would be given as it is.
   */
  #said(events: readonly TextEvent[]): readonly TextEvent[] {
    let hasProof = false;
    for (const event of events) {
      if (typeof eventText(event) !== 'string') throw new TypeError(`${event.type} is no text`);
      hasProof ||= event.type === 'signature';
    }
    return hasProof ? events.map((event) => madeBy(this.#account, event)) : events;
  }

  #frames(call: TextCall, reply: UpstreamReply, tap: RelayTap, signal: StopSignal): BodyReader<Buffer> {
    const rename = streamRenamer(call);
    const splitter = new EventSplitter();
    const bounds = new StreamBounds();
    const relay = (frames: Buffer): Buffer | undefined => {
      if (frames.length === 0) return undefined;
      bounds.see(frames);
      return this.#understood(() => {
        tap.see(frames);
        return rename(eventsWithoutCharges(frames));
      });
    };
    const taker = {
      take: (bytes: Buffer) => {
        bounds.count(bytes);
        return relay(splitter.push(bytes));
      },
      rest: () => relay(splitter.rest()),
      end: () => {
        this.#understood(() => tap.end());
        return undefined;
      },
    };
    return new BodyReader(reply.body, taker, (error) => brokenBy(error, signal));
  }
}

/** Each step of a long conversation takes some ten milliseconds. */
async function inSteps({ readBack }: AcceptedRequest, write: () => JsonObject): Promise<Asked> {
  await nextTurn();
  const body = write();
  await nextTurn();
  return { body: jsonBytes(body, wellFormedJson), readBack };
}

const unlessEmpty = <Item>(items: readonly Item[]): readonly Item[] | undefined =>
  items.length > 0 ? items : undefined;

/** What broke a stream: the caller's leaving, or a failure of the network. */
function brokenBy(error: unknown, signal: StopSignal): unknown {
  return signal.aborted ? signal.reason : networkFailure(error);
}

/** Shows the caller the name it knows. */
function renameModel(json: string, call: TextCall): string {
  if (call.model === call.upstreamModel) return json;
  const field = call.style === 'gemini' ? 'modelVersion' : 'model';
  return Buffer.concat(replaceTopLevelString(Buffer.from(json), field, call.model)).toString('utf8');
}

/** Of the expected type, and not compressed, which was not asked for. */
const isPlain = ({ headers }: ReplyHead, expected: string): boolean =>
  String(headers['content-type'] ?? '').includes(expected) &&
  String(headers['content-encoding'] ?? 'identity') === 'identity';

const ofAnotherType = ({ headers }: ReplyHead): GatewayError =>
  new GatewayError('upstream_error', 'The upstream answered with something that is not part of its protocol.', {
    log: `content-type ${String(headers['content-type'] ?? '')}, content-encoding ${String(headers['content-encoding'] ?? '')}`,
  });

/** A whole reply is JSON; of a refusal only the beginning is worth reading. */
function acceptJson(head: ReplyHead): number {
  if (head.status !== 200) return MAX_REFUSAL_BYTES;
  if (!isPlain(head, 'json')) throw ofAnotherType(head);
  return MAX_REPLY_BYTES;
}

function identified(head: ReplyHead, reply: TextReply): TextReply {
  const id = upstreamRequestId(head);
  return id === undefined ? reply : { upstreamRequestId: id, ...reply };
}
