import {
  eventText,
  GatewayError,
  type NativeBody,
  REFUSE_UNPRICED,
  type TextCall,
  type TextEvent,
  type TextProvider,
  type TextReply,
  type UpstreamPolicy,
} from '#contracts';
import { jsonBytes } from '#platform';
import { BodyReader } from './body-reader.js';
import { parseReply } from './codec-failures.js';
import { permittedHeaders, pricedBody } from './permitted.js';
import { primed } from './primed.js';
import type { ProtocolCodec, ProtocolOptions, StreamDecoder } from './protocol-codec.js';
import { RelayTap } from './relay-tap.js';
import type { RefusedRequest } from './operators-fault.js';
import { refusedByUpstream, upstreamRequestId } from './refused-by-upstream.js';
import { eventData, EventSplitter } from './server-sent-events.js';
import { replaceTopLevelString } from './top-level-field.js';
import { networkFailure, readText, type RequestBytes, type UpstreamHttp, type UpstreamReply } from './upstream-http.js';
import { withoutSecrets } from './without-secrets.js';

/** The parts of a refusal's body that are worth reading, in bytes. */
const MAX_REFUSAL_BYTES = 64 * 1024;

/** What makes an HTTP upstream: where it is, what it speaks, the key it wants. */
export interface HttpUpstream {
  readonly id: string;
  readonly codec: ProtocolCodec;
  readonly http: UpstreamHttp;
  readonly key: string | undefined;
  readonly options: ProtocolOptions;
  /** What may pass although the gateway has no price for it; nothing when it is left out. */
  readonly policy?: UpstreamPolicy;
}

const NOTHING: readonly TextEvent[] = [];

/** A vendor behind HTTP, in any of the protocols. A request of the vendor's own protocol passes through byte for byte. */
export class HttpTextProvider implements TextProvider {
  readonly #upstream: HttpUpstream;
  /** What no caller may learn from an upstream's sentence. */
  readonly #secrets: readonly string[];

  constructor(upstream: HttpUpstream) {
    this.#upstream = upstream;
    this.#secrets = [upstream.key, upstream.http.host].filter((secret) => secret !== undefined);
  }

  get id(): string {
    return this.#upstream.id;
  }

  get protocol(): ProtocolCodec['protocol'] {
    return this.#upstream.codec.protocol;
  }

  async call(call: TextCall, signal: AbortSignal): Promise<TextReply> {
    const { codec, http, key, options, policy = REFUSE_UNPRICED } = this.#upstream;
    const passesThrough = call.style === codec.protocol;
    const body = passesThrough
      ? await nativeBytes(pricedBody(call.native(), call.unknownFields, policy), call)
      : await jsonBytes(codec.write(call.request(), call.upstreamModel, options));
    const headers = { ...codec.headers(key), ...(passesThrough ? permittedHeaders(call.headers, policy) : {}) };
    const reply = await http.post(codec.path(call.upstreamModel, call.stream), headers, body, signal);
    if (reply.status !== 200)
      throw await this.#refusal(reply, { upstreamModel: call.upstreamModel, sent: body }, signal);
    expectContentType(reply, call.stream ? 'text/event-stream' : 'json');
    const id = upstreamRequestId(reply);
    const read = await (call.stream
      ? this.#readStream(call, reply, passesThrough, signal)
      : this.#readBody(call, reply, passesThrough, signal));
    return id === undefined ? read : { upstreamRequestId: id, ...read };
  }

  async #refusal(reply: UpstreamReply, request: RefusedRequest, signal: AbortSignal): Promise<GatewayError> {
    const refusal = refusedByUpstream(reply, await readText(reply, signal, MAX_REFUSAL_BYTES), request);
    return withoutSecrets(refusal, this.#secrets);
  }

  /** @throws GatewayError `upstream_error` where a reply of a strange shape would end in a TypeError. */
  #understood(read: () => readonly TextEvent[]): readonly TextEvent[] {
    try {
      return read();
    } catch (error) {
      if (error instanceof GatewayError) throw withoutSecrets(error, this.#secrets);
      throw new GatewayError('upstream_error', 'The upstream sent something that is not part of its protocol.', {
        cause: error,
      });
    }
  }

  async #readBody(call: TextCall, reply: UpstreamReply, relay: boolean, signal: AbortSignal): Promise<TextReply> {
    const text = await readText(reply, signal);
    const answer = parseReply(text);
    const events = this.#understood(() => this.#upstream.codec.read(answer));
    const usage = events.find((event) => event.type === 'finish')?.usage;
    call.onReply?.({ told: () => usage, mayReasonUnasked: this.#upstream.codec.mayReasonUnasked });
    if (!relay) return { kind: 'events', events: once(events) };
    const produced = usage?.outputTokens ? '' : events.map(eventText).join('');
    const json = renameModel(text.trim(), call);
    return { kind: 'body', json, answer: () => answer, outcome: () => ({ usage, produced, failure: undefined }) };
  }

  async #readStream(call: TextCall, reply: UpstreamReply, relay: boolean, signal: AbortSignal): Promise<TextReply> {
    const { codec } = this.#upstream;
    const { mayReasonUnasked } = codec;
    if (!relay) {
      const decoder = codec.decoder();
      call.onReply?.({ told: () => decoder.told(), mayReasonUnasked });
      const events = await primed(this.#events(reply, decoder, signal), (batch) =>
        batch.some(({ type }) => type !== 'start'),
      );
      return { kind: 'events', events };
    }
    const tap = new RelayTap(codec);
    call.onReply?.({ told: () => tap.told(), mayReasonUnasked });
    const frames = await primed(this.#frames(call, reply, tap, signal), () => {
      // Before anything else was said, another upstream may still answer, and an HTTP status can tell of it.
      if (tap.failure) throw withoutSecrets(tap.failure, this.#secrets);
      return true;
    });
    return { kind: 'stream', frames, answer: () => tap.answer, outcome: () => tap.outcome() };
  }

  #events(reply: UpstreamReply, decoder: StreamDecoder, signal: AbortSignal): BodyReader<readonly TextEvent[]> {
    const splitter = new EventSplitter();
    const decode = (frames: Buffer): readonly TextEvent[] =>
      this.#understood(() => {
        // A loop: `flatMap` looks up how to make an array, and makes two, for every token.
        const events: TextEvent[] = [];
        for (const data of eventData(frames.toString('utf8'))) events.push(...decoder.push(data));
        return events;
      });
    const taker = {
      take: (bytes: Buffer) => unlessEmpty(decode(splitter.push(bytes))),
      rest: () => unlessEmpty(decode(splitter.rest())),
      end: () => unlessEmpty(decoder.end()),
    };
    return new BodyReader(reply.body, taker, (error) => brokenBy(error, signal));
  }

  #frames(call: TextCall, reply: UpstreamReply, tap: RelayTap, signal: AbortSignal): BodyReader<Buffer> {
    const rename = streamRenamer(call);
    const splitter = new EventSplitter();
    const relay = (frames: Buffer): Buffer | undefined => {
      if (frames.length === 0) return undefined;
      tap.see(frames);
      return rename(frames);
    };
    const taker = {
      take: (bytes: Buffer) => relay(splitter.push(bytes)),
      rest: () => relay(splitter.rest()),
      end: () => {
        tap.end();
        return undefined;
      },
    };
    return new BodyReader(reply.body, taker, (error) => brokenBy(error, signal));
  }
}

const unlessEmpty = <Item>(items: readonly Item[]): readonly Item[] | undefined =>
  items.length > 0 ? items : undefined;

/** What broke a stream: the caller's leaving, or a failure of the network. */
function brokenBy(error: unknown, signal: AbortSignal): unknown {
  return signal.aborted ? signal.reason : networkFailure(error);
}

/** The body's own bytes; only the model's name is another at some upstreams. */
async function nativeBytes(native: NativeBody, call: TextCall): Promise<RequestBytes> {
  if (native.kind === 'rewritten') {
    const named = 'model' in native.body ? { model: call.upstreamModel } : {};
    return jsonBytes({ ...native.body, ...named });
  }
  const { buffer, byteOffset, byteLength } = native.bytes;
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  return call.model === call.upstreamModel ? [bytes] : replaceTopLevelString(bytes, 'model', call.upstreamModel);
}

/** Shows the caller the name it knows. */
function renameModel(json: string, call: TextCall): string {
  if (call.model === call.upstreamModel) return json;
  const field = call.style === 'gemini' ? 'modelVersion' : 'model';
  return Buffer.concat(replaceTopLevelString(Buffer.from(json), field, call.model)).toString('utf8');
}

function streamRenamer({ model, upstreamModel }: TextCall): (events: Buffer) => Buffer {
  if (model === upstreamModel) return (events) => events;
  const value = JSON.stringify(upstreamModel);
  const escaped = value.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const named = new RegExp(`"(model|modelVersion)"(\\s*:\\s*)${escaped}`, 'g');
  const shown = JSON.stringify(model).replaceAll('$', '$$$$');
  return (events) =>
    events.includes(value) ? Buffer.from(events.toString('utf8').replace(named, `"$1"$2${shown}`)) : events;
}

function expectContentType(reply: UpstreamReply, expected: string): void {
  const sent = String(reply.headers['content-type'] ?? '');
  if (sent.includes(expected)) return;
  reply.body.destroy();
  throw new GatewayError('upstream_error', 'The upstream answered with something that is not part of its protocol.', {
    log: `content-type ${sent}, expected ${expected}`,
  });
}

async function* once(events: readonly TextEvent[]): AsyncGenerator<readonly TextEvent[]> {
  yield events.length > 0 ? events : NOTHING;
}
