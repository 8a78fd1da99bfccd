import {
  canAskForTier,
  eventText,
  GatewayError,
  type JsonObject,
  type ModelTraits,
  type NamedReply,
  type NativeBody,
  REFUSE_UNPRICED,
  type StopSignal,
  type TextCall,
  type TextEvent,
  type TextProvider,
  type TextReply,
  type TextRequest,
  type TextUsage,
  type UpstreamPolicy,
  type VerifiedText,
} from '#contracts';
import { jsonBytes, logger, nextTurn, signals, wellFormedJson } from '#platform';
import type { ReplyHead } from '../../http/whole-reply.js';
import {
  decidesBinding,
  lettingDrop,
  noteDropped,
  refusesPrefix,
  withBindingBeta,
} from '../messages/messages-codec.js';
import { inOwnNames, withAcceptedNames } from './accepted-names.js';
import { AnswerTaker, withAnswerInObject } from './answer-in-object.js';
import { BodyReader } from './body-reader.js';
import { chunksIn, parseReply } from './codec-failures.js';
import {
  refusedByUpstream,
  type RefusedRequest,
  refusesProof,
  upstreamRequestId,
  withoutSecrets,
} from './refused-by-upstream.js';
import { traitsOf } from '../traits/model-traits.js';
import { asksInWords, refusedByModel } from './refused-by-model.js';
import { MendedArguments } from './mended-arguments.js';
import { MendedFinish } from './mended-finish.js';
import { PassedHeaders } from './passed-headers.js';
import { permittedBody, permittedRequest } from './permitted.js';
import type { ProtocolCodec, ProtocolOptions, StreamDecoder } from './protocol-codec.js';
import { RelayTap } from './relay-tap.js';
import { eventData, EventSplitter } from './server-sent-events.js';
import { accountMark, madeBy, withProofsOf } from './signatures.js';
import { begins, StreamBounds, wholeEvents } from './stream-bounds.js';
import { streamRenamer } from './stream-renamer.js';
import { replaceTopLevelString } from './top-level-field.js';
import { readModels, verifyUpstream } from './verify-upstream.js';
import {
  MAX_REPLY_BYTES,
  networkFailure,
  readText,
  type RequestBytes,
  type UpstreamHttp,
  type UpstreamReply,
} from './upstream-http.js';
import { eventsWithoutCharges, withoutCharges } from './without-charges.js';

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
  readonly readBack: () => ReadBack;
}

/** The request with names of functions and a form of the answer that the vendors of a protocol take. */
function acceptedRequest(asked: TextRequest, protocol: ProtocolCodec['protocol']): AcceptedRequest {
  const { request: named, ownNames } = withAcceptedNames(asked, protocol);
  const { format, isInObject } = withAnswerInObject(named.format, protocol);
  return {
    request: format === named.format ? named : { ...named, format },
    readBack: () => {
      const mended = new MendedArguments();
      const taker = isInObject ? new AnswerTaker() : undefined;
      return (events) => inOwnNames(mended.take(taker?.take(events) ?? events), ownNames);
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
  /** The caller's headers that it is sent where the request passes through; undefined: the protocol's own. */
  readonly passHeaders?: readonly string[] | undefined;
  /** Whether a translated request that names no prompt cache names the conversation's. */
  readonly writesCacheKey?: boolean;
  /** Whether a reply that passes through says that it called, where it did and says that it ended by itself. */
  readonly mendsFinish?: boolean;
}

/** What an upstream is to be told: the caller's own body, or the request. */
type Input =
  | { readonly passesThrough: true; readonly sent: NativeBody }
  | { readonly passesThrough: false; readonly sent: TextRequest };

const bodyOf = (native: NativeBody): JsonObject =>
  native.kind === 'rewritten' ? native.body : { ...native.front, ...native.parsed() };

/** The body with leave for the vendor to drop thinking. */
function droppable(native: NativeBody): NativeBody {
  const body = bodyOf(native);
  const letting = lettingDrop(body);
  return letting === body ? native : { kind: 'rewritten', body: letting };
}

interface Asked {
  readonly body: RequestBytes | Promise<RequestBytes>;
  /** Undefined where body and reply pass through as they are. */
  readonly rewritten?: Rewritten;
}

/** A body that was written here. */
interface Rewritten {
  readonly body: JsonObject;
  readonly readBack: AcceptedRequest['readBack'];
  /** Whether it asks for a stream, which one that its caller reads whole does where its vendor must. */
  readonly isStreamed: boolean;
}

/** A vendor behind HTTP, in any of the protocols. A request of the vendor's own protocol passes through byte for byte. */
export class HttpTextProvider implements TextProvider {
  /** What no caller may learn from an upstream's sentence. */
  private readonly secrets: readonly string[];
  private readonly account: string;
  private readonly headers: PassedHeaders;
  /** The key, and what the protocol wants. */
  private readonly ownHeaders: Readonly<Record<string, string>>;

  constructor(private readonly upstream: HttpUpstream) {
    this.ownHeaders = upstream.codec.headers(upstream.key);
    this.account = accountMark(upstream.vendorAccount ?? upstream.id);
    this.headers = new PassedHeaders(upstream.codec.protocol, upstream.passHeaders);
    this.secrets = [upstream.key, upstream.http.host].filter((secret) => secret !== undefined);
  }

  get id(): string {
    return this.upstream.id;
  }

  get protocol(): ProtocolCodec['protocol'] {
    return this.upstream.codec.protocol;
  }

  get continues(): boolean {
    return this.upstream.codec.continues === true;
  }

  verify(model: string | undefined, signal: AbortSignal): Promise<VerifiedText> {
    const { codec, http, key, options } = this.upstream;
    return verifyUpstream({ codec, http, key, options, secrets: this.secrets, model }, signal);
  }

  readModels(signal: AbortSignal): Promise<string> {
    const { codec, http, key, options } = this.upstream;
    return readModels({ codec, http, key, options, secrets: this.secrets, model: undefined }, signal);
  }

  traitsOf(upstreamModel: string): ModelTraits {
    const { codec, options } = this.upstream;
    return traitsOf(options, codec.protocol, upstreamModel);
  }

  /** A vendor may refuse a proof that is cut, or that another account made: then it is asked once more without any. */
  async call(call: TextCall, signal: StopSignal): Promise<TextReply> {
    const refused = refusedByModel(call, this.protocol, this.traitsOf(call.upstreamModel));
    if (refused) throw refused;
    const input = this.input(call, this.account);
    const isLetting = this.protocol === 'messages' && call.letsVendorDrop === true;
    try {
      return await this.ask(call, input, signal, isLetting);
    } catch (error) {
      if (signal.aborted || !refusesProof(error)) throw error;
      return await this.askAgain(call, input, signal, error);
    }
  }

  async refusalOf(call: TextCall): Promise<GatewayError | undefined> {
    const refused = refusedByModel(call, this.protocol, this.traitsOf(call.upstreamModel));
    const input = this.input(call, this.account);
    if (refused || input.passesThrough) return refused;
    try {
      const { body } = await this.translated(input.sent, call);
      await body;
      return undefined;
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  }

  /** @throws the refusal where there is nothing to leave out, or the caller wants to hear of it. */
  private async askAgain(call: TextCall, input: Input, signal: StopSignal, error: unknown): Promise<TextReply> {
    const isOfPrefix = this.protocol === 'messages' && call.letsVendorDrop !== true && refusesPrefix(error);
    if (isOfPrefix && input.passesThrough) {
      const body = bodyOf(input.sent);
      if (decidesBinding(body)) throw error;
      if (lettingDrop(body) !== body) {
        this.noteRetry(call, 'prefix');
        return { ...(await this.ask(call, input, signal, true)), withoutProofs: 'let_drop' };
      }
    }
    const bare = this.input(call, undefined);
    if (bare.sent === input.sent) throw error;
    this.noteRetry(call, 'refused');
    return { ...(await this.ask(call, bare, signal, false)), withoutProofs: 'left_out' };
  }

  private noteRetry({ requestId, model }: TextCall, reason: string): void {
    signals.proofs.inc({ upstream: this.id, outcome: 'retried', reason });
    log.warn('upstream.asked_without_proofs', { requestId, upstream: this.id, model, reason });
  }

  /** What is sent on, with the proofs of reasoning that the account made; undefined: with none. */
  private input(call: TextCall, account: string | undefined): Input {
    const { codec } = this.upstream;
    return call.style === codec.protocol && call.isTranslated !== true
      ? { passesThrough: true, sent: call.native(account) }
      : { passesThrough: false, sent: withProofsOf(account, codec.protocol, call.request()) };
  }

  /** @param letsDrop the vendor may drop thinking that does not fit what comes before it. */
  private async ask(call: TextCall, input: Input, signal: StopSignal, letsDrop: boolean): Promise<TextReply> {
    const { codec, http, policy = REFUSE_UNPRICED } = this.upstream;
    const { passesThrough } = input;
    const asked = input.passesThrough
      ? { body: nativeBytes(this.native(letsDrop ? droppable(input.sent) : input.sent, call, policy), call) }
      : await this.translated(input.sent, call);
    const { rewritten } = asked;
    const body = asked.body instanceof Promise ? await asked.body : asked.body;
    const headers = passesThrough ? this.headersFor(call, letsDrop) : this.ownHeaders;
    if (!(rewritten?.isStreamed ?? call.stream)) {
      const path = codec.path(call.upstreamModel, false);
      const reply = await http.exchange(path, headers, body, { signal, accept: acceptJson });
      if (reply.status !== 200)
        throw this.refusal(reply, reply.text, { upstreamModel: call.upstreamModel, sent: body });
      return this.identified(reply, this.readBody(call, reply.text, rewritten?.readBack()), passesThrough);
    }
    const reply = await this.openStream(call, headers, body, signal);
    const read = isPlain(reply, 'json')
      ? await this.readUnstreamed(call, reply, rewritten?.readBack(), signal)
      : await this.readStream(call, reply, rewritten, signal);
    return this.identified(reply, read, passesThrough);
  }

  /** Some servers answer a request for a stream with the whole reply, or with a failure alone. */
  private async readUnstreamed(
    call: TextCall,
    reply: UpstreamReply,
    readBack: ReadBack = (events) => events,
    signal: StopSignal,
  ): Promise<TextReply> {
    const text = await readText(reply, signal, MAX_REPLY_BYTES);
    const chunks = this.upstream.codec.readChunks ? chunksIn(text) : undefined;
    const read = chunks ? this.readChunks(call, text, chunks, readBack) : this.readBody(call, text, readBack);
    return call.stream && read.kind === 'whole' ? { kind: 'events', events: atOnce(read.events) } : read;
  }

  /** @throws GatewayError where the upstream refuses it, or answers with what is neither a stream nor JSON. */
  private async openStream(
    { upstreamModel }: TextCall,
    headers: Readonly<Record<string, string>>,
    body: RequestBytes,
    signal: StopSignal,
  ): Promise<UpstreamReply> {
    const { codec, http } = this.upstream;
    const reply = await http.post(codec.path(upstreamModel, true), headers, body, signal);
    if (reply.status !== 200)
      throw this.refusal(reply, await readText(reply, signal, MAX_REFUSAL_BYTES), { upstreamModel, sent: body });
    if (isPlain(reply, 'text/event-stream') || isPlain(reply, 'json')) return reply;
    reply.body.destroy();
    throw ofAnotherType(reply);
  }

  private headersFor({ headers }: TextCall, letsDrop: boolean): Readonly<Record<string, string>> {
    const passed = this.headers.of(headers, this.upstream.policy ?? REFUSE_UNPRICED);
    return { ...this.ownHeaders, ...(letsDrop ? withBindingBeta(passed) : passed) };
  }

  private identified(head: ReplyHead, reply: TextReply, passesThrough: boolean): TextReply {
    const upstreamId = upstreamRequestId(head);
    const headers = passesThrough ? this.headers.returned(head.headers) : undefined;
    return upstreamId === undefined && headers === undefined
      ? reply
      : { ...(upstreamId !== undefined && { upstreamRequestId: upstreamId }), ...(headers && { headers }), ...reply };
  }

  private translated(asked: TextRequest, call: TextCall): Asked | Promise<Asked> {
    const { codec, options, policy = REFUSE_UNPRICED } = this.upstream;
    const traits = this.traitsOf(call.upstreamModel);
    const named = this.withTier(this.withCacheKey(asked, call), call);
    const permitted = call.isTranslated === true ? permittedRequest(named, policy) : named;
    const { request, readBack } = acceptedRequest(asksInWords(permitted, traits), codec.protocol);
    const { maxOutputTokens = 0, turns } = request;
    const isLong = maxOutputTokens > (traits.unstreamed_output_tokens ?? Number.POSITIVE_INFINITY);
    const isStreamed = call.stream || isLong || (this.continues && call.mayContinue !== undefined);
    // Most protocols say in the body how the reply is to come.
    const told = request.stream === isStreamed ? request : { ...request, stream: isStreamed };
    const write = (): Rewritten => ({ body: codec.write(told, call.upstreamModel, options), readBack, isStreamed });
    return turns.length > MANY_TURNS ? inSteps(write) : asWritten(write());
  }

  private withCacheKey(asked: TextRequest, { cacheKey }: TextCall): TextRequest {
    if (this.upstream.writesCacheKey !== true || asked.cacheKey !== undefined) return asked;
    const key = cacheKey?.();
    return key === undefined ? asked : { ...asked, cacheKey: key };
  }

  /** A tier that is paid for, or that the upstream's policy lists. */
  private withTier(asked: TextRequest, { unpriced }: TextCall): TextRequest {
    const tier = unpriced?.find(({ kind }) => kind === 'service_tiers');
    return tier && canAskForTier(this.upstream.codec.protocol, tier.name)
      ? { ...asked, serviceTier: tier.name.replace(/^service_tier_/, '') }
      : asked;
  }

  private native(native: NativeBody, call: TextCall, policy: UpstreamPolicy): NativeBody {
    const { codec, options } = this.upstream;
    const body = permittedBody(native, call, policy);
    return codec.native?.(body, options, call.upstreamModel) ?? body;
  }

  private refusal(reply: ReplyHead, text: string, request: RefusedRequest): GatewayError {
    return withoutSecrets(refusedByUpstream(reply, text, request), this.secrets);
  }

  /** @throws GatewayError `upstream_error` where a reply of a strange shape would end in a TypeError. */
  private understood<Read>(read: () => Read): Read {
    try {
      return read();
    } catch (error) {
      if (error instanceof GatewayError) throw withoutSecrets(error, this.secrets);
      throw new GatewayError('upstream_error', 'The upstream sent something that is not part of its protocol.', {
        cause: error,
        isUnreadable: true,
      });
    }
  }

  private mayReasonUnasked({ upstreamModel }: TextCall): boolean {
    return this.traitsOf(upstreamModel).thinks_unasked === 'yes';
  }

  private readBody(call: TextCall, text: string, readBack: ReadBack | undefined): TextReply {
    const answer = parseReply(text);
    const events = this.understood(() => this.upstream.codec.read(answer));
    const usage = this.noteWhole(call, text, events);
    if (readBack) return { kind: 'whole', events: readBack(this.understood(() => this.said(events))) };
    const words = (): string => events.map(eventText).join('');
    const produced = usage?.outputTokens ? '' : words();
    const sent = text.trim();
    const shown = withoutCharges(sent);
    const renamed = renameModel(shown, call);
    const json = this.mended()?.json(renamed) ?? renamed;
    return {
      kind: 'body',
      json,
      answer: () => named(shown === sent ? answer : parseReply(shown), call),
      outcome: () => ({ usage, produced, failure: undefined }),
      words,
    };
  }

  private readChunks(call: TextCall, text: string, chunks: readonly JsonObject[], readBack: ReadBack): TextReply {
    const events = this.understood(() => this.said(this.upstream.codec.readChunks?.(chunks) ?? []));
    this.noteWhole(call, text, events);
    return { kind: 'whole', events: readBack(events) };
  }

  private noteWhole(call: TextCall, text: string, events: readonly TextEvent[]): TextUsage | undefined {
    const finish = events.find((event) => event.type === 'finish');
    const usage = finish?.usage;
    call.onReply?.({
      reportedUsage: () => usage,
      mayReasonUnasked: this.mayReasonUnasked(call),
      named: () => ({ ...namesIn(this.protocol, text), finishReason: finish?.reason }),
    });
    this.noteDropped(text);
    return usage;
  }

  private async readStream(
    call: TextCall,
    reply: UpstreamReply,
    rewritten: Rewritten | undefined,
    signal: StopSignal,
  ): Promise<TextReply> {
    const { codec } = this.upstream;
    const mayReasonUnasked = this.mayReasonUnasked(call);
    const opening = new Opening();
    if (rewritten) {
      const decoder = codec.decoder(call.keep);
      call.onReply?.({
        reportedUsage: () => decoder.reportedUsage(),
        heldBack: () => decoder.heldBack?.() ?? '',
        lastPart: () => decoder.lastPart?.(),
        mayReasonUnasked,
        named: () => ({ ...namesIn(this.protocol, opening.text), finishReason: opening.finishReason }),
      });
      const parts = { decoder, rewritten, opening };
      const events = await primed(this.allEvents(call, reply, parts, signal), (batch) =>
        batch.some(({ type }) => type !== 'start'),
      );
      this.noteDropped(opening.text);
      return call.stream ? { kind: 'events', events } : { kind: 'whole', events: await collected(events) };
    }
    const tap = new RelayTap(codec);
    call.onReply?.({
      reportedUsage: () => tap.reportedUsage(),
      mayReasonUnasked,
      named: () => ({ ...namesIn(this.protocol, opening.text), finishReason: tap.finishReason }),
    });
    const frames = await primed(this.frames(call, reply, { tap, opening }, signal), (first) => {
      this.noteDropped(first.toString('latin1'));
      // Before anything else was said, another upstream may still answer, and it can still be an HTTP status.
      if (tap.failure) throw withoutSecrets(tap.failure, this.secrets);
      return begins(first, codec.marks.begins);
    });
    return {
      kind: 'stream',
      frames,
      answer: () => tap.answer && named(tap.answer, call),
      outcome: () => tap.outcome(),
      words: () => tap.words(),
    };
  }

  /** The events of a reply, also of one that takes several requests to its vendor. */
  private allEvents(
    call: TextCall,
    reply: UpstreamReply,
    { decoder, rewritten, opening }: EventParts,
    signal: StopSignal,
  ): AsyncIterableIterator<readonly TextEvent[]> {
    const { mayContinue, requestId, model } = call;
    const readBack = rewritten.readBack();
    if (!mayContinue || !decoder.continuation) return this.events(reply, { decoder, opening, readBack }, signal);
    const read = (part: UpstreamReply): BodyReader<readonly TextEvent[]> =>
      this.events(part, { decoder, opening, readBack: (events) => events }, signal);
    return inParts(read(reply), {
      decoder,
      readBack,
      askMore: async () => {
        const body = decoder.continuation?.(rewritten.body);
        if (!body || !mayContinue(decoder.reportedUsage())) return undefined;
        return read(await this.openStream(call, this.ownHeaders, await jsonBytes(body, wellFormedJson), signal));
      },
      failed: (error) => {
        if (signal.aborted || !(error instanceof GatewayError)) throw error;
        const { code, message: detail } = error;
        log.warn('upstream.not_continued', { requestId, upstream: this.id, model, code, detail });
      },
    });
  }

  /** Of the beginning of a reply, however it is shown. */
  private noteDropped(said: string): void {
    if (this.protocol === 'messages') noteDropped(this.id, said);
  }

  private mended(): MendedFinish | undefined {
    return this.upstream.mendsFinish === true ? MendedFinish.of(this.protocol) : undefined;
  }

  private events(
    reply: UpstreamReply,
    { decoder, opening, readBack }: Pick<EventParts, 'decoder' | 'opening'> & { readonly readBack: ReadBack },
    signal: StopSignal,
  ): BodyReader<readonly TextEvent[]> {
    const splitter = new EventSplitter();
    const bounds = new StreamBounds();
    const decode = (frames: Buffer): readonly TextEvent[] =>
      this.understood(() => {
        bounds.see(frames);
        opening.see(frames);
        // A loop: `flatMap` looks up how to make an array, and makes two, for every token.
        const events: TextEvent[] = [];
        for (const data of eventData(frames.toString('utf8'))) events.push(...decoder.push(data));
        return readBack(this.said(events));
      });
    const taker = {
      take: (bytes: Buffer) => {
        bounds.count(bytes);
        return unlessEmpty(decode(splitter.push(bytes)));
      },
      rest: () => unlessEmpty(decode(splitter.rest())),
      end: () => unlessEmpty(readBack(this.understood(() => this.said(opening.ended(decoder.end()))))),
    };
    return new BodyReader(reply.body, taker, (error) => brokenBy(error, signal));
  }

  /**
   * The events with the account that made them in their proofs.
   *
   * @throws TypeError where what was said is no text, which callers would be given as it is.
   */
  private said(events: readonly TextEvent[]): readonly TextEvent[] {
    let hasProof = false;
    for (const event of events) {
      if (typeof eventText(event) !== 'string') throw new TypeError(`${event.type} is no text`);
      hasProof ||= event.type === 'signature';
    }
    return hasProof ? events.map((event) => madeBy(this.account, event)) : events;
  }

  private frames(
    call: TextCall,
    reply: UpstreamReply,
    { tap, opening }: { readonly tap: RelayTap; readonly opening: Opening },
    signal: StopSignal,
  ): BodyReader<Buffer> {
    const rename = streamRenamer(call);
    const mended = this.mended();
    const splitter = new EventSplitter();
    const bounds = new StreamBounds();
    const relay = (frames: Buffer): Buffer | undefined => {
      if (frames.length === 0) return undefined;
      bounds.see(frames);
      opening.see(frames);
      return this.understood(() => {
        tap.see(frames);
        const shown = rename(eventsWithoutCharges(frames));
        return mended ? mended.events(shown) : shown;
      });
    };
    const taker = {
      take: (bytes: Buffer) => {
        bounds.count(bytes);
        return relay(splitter.push(bytes));
      },
      rest: () => relay(wholeEvents(splitter.rest())),
      end: () => {
        this.understood(() => tap.end());
        return undefined;
      },
    };
    return new BodyReader(reply.body, taker, (error) => brokenBy(error, signal));
  }
}

interface EventParts {
  readonly decoder: StreamDecoder;
  readonly rewritten: Rewritten;
  readonly opening: Opening;
}

const OPENING_BYTES = 2_048;

/** The first events of a stream, in which its vendor names the reply, and why it ended. Read for traces alone. */
class Opening {
  finishReason: NamedReply['finishReason'];
  private first: Buffer | undefined;

  see(events: Buffer): void {
    // A copy: what came with it would be kept as well.
    if (events.length > 0) this.first ??= Buffer.from(events.subarray(0, OPENING_BYTES));
  }

  ended(events: readonly TextEvent[]): readonly TextEvent[] {
    this.finishReason = events.find((event) => event.type === 'finish')?.reason;
    return events;
  }

  get text(): string {
    return this.first?.toString('utf8') ?? '';
  }
}

/** Where a reply has its name and that of its model: before all that a model or a caller wrote, but in one protocol, which has names of its own for them. */
const NAME = /"id"\s*:\s*"([^"\\]{1,200})"/;
const MODEL = /"model"\s*:\s*"([^"\\]{1,200})"/;
const GEMINI_NAME = /"responseId"\s*:\s*"([^"\\]{1,200})"/;
const GEMINI_MODEL = /"modelVersion"\s*:\s*"([^"\\]{1,200})"/;

function namesIn(protocol: ProtocolCodec['protocol'], text: string): Pick<NamedReply, 'id' | 'model'> {
  const opening = text.slice(0, OPENING_BYTES);
  return {
    id: (protocol === 'gemini' ? GEMINI_NAME : NAME).exec(opening)?.[1],
    model: (protocol === 'gemini' ? GEMINI_MODEL : MODEL).exec(opening)?.[1],
  };
}

interface Parts {
  readonly decoder: StreamDecoder;
  readonly readBack: ReadBack;
  /** Asks the vendor to go on; undefined for a reply that is over, or is left as it stands. */
  readonly askMore: () => Promise<BodyReader<readonly TextEvent[]> | undefined>;
  /** Told of what ended a part behind the first one. @throws what was no failure of the vendor. */
  readonly failed: (error: unknown) => void;
}

/**
 * The parts of a reply as one: only the last of them ends it. Where the vendor does not go on, or breaks off when it does, the reply ends
 * as the part before did, cut off.
 */
async function* inParts(
  first: BodyReader<readonly TextEvent[]>,
  { decoder, readBack, askMore, failed }: Parts,
): AsyncGenerator<readonly TextEvent[], undefined> {
  let part: BodyReader<readonly TextEvent[]> | undefined = first;
  let end: readonly TextEvent[] = [];
  while (part) {
    try {
      for await (const batch of part) {
        const finish = batch.filter(({ type }) => type === 'finish');
        if (finish.length > 0) end = finish;
        const said = readBack(finish.length > 0 ? batch.filter(({ type }) => type !== 'finish') : batch);
        if (said.length > 0) yield said;
      }
      part = await askMore();
      if (part) decoder.nextPart?.();
    } catch (error) {
      if (end.length === 0) throw error;
      failed(error);
      part = undefined;
      const usage = decoder.reportedUsage();
      end = end.map((event) => (event.type === 'finish' && usage ? { ...event, usage } : event));
    }
  }
  yield readBack(end);
}

/** Each step of a long conversation takes some ten milliseconds. */
async function inSteps(write: () => Rewritten): Promise<Asked> {
  await nextTurn();
  const rewritten = write();
  await nextTurn();
  return asWritten(rewritten);
}

const asWritten = (rewritten: Rewritten): Asked => ({ body: jsonBytes(rewritten.body, wellFormedJson), rewritten });

async function* atOnce(events: readonly TextEvent[]): AsyncGenerator<readonly TextEvent[], undefined> {
  yield await Promise.resolve(events);
}

async function collected(batches: AsyncIterable<readonly TextEvent[]>): Promise<readonly TextEvent[]> {
  const events: TextEvent[] = [];
  for await (const batch of batches) events.push(...batch);
  return events;
}

const unlessEmpty = <Item>(items: readonly Item[]): readonly Item[] | undefined =>
  items.length > 0 ? items : undefined;

/** What broke a stream: the caller's leaving, or a failure of the network. */
function brokenBy(error: unknown, signal: StopSignal): unknown {
  return signal.aborted ? signal.reason : networkFailure(error);
}

const modelField = ({ style }: TextCall): string => (style === 'gemini' ? 'modelVersion' : 'model');

/** Shows the caller the name it knows. */
function renameModel(json: string, call: TextCall): string {
  if (call.model === call.upstreamModel) return json;
  return Buffer.concat(replaceTopLevelString(Buffer.from(json), modelField(call), call.model)).toString('utf8');
}

/** The same of a reply that was read. */
function named(answer: JsonObject, call: TextCall): JsonObject {
  const field = modelField(call);
  return call.model === call.upstreamModel || !(field in answer) ? answer : { ...answer, [field]: call.model };
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
