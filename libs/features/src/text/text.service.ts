import { GatewayError, type CollectedReply, type JsonObject, type TextReply } from '#contracts';
import type { Clock } from '#platform';
import { countableText, type TokenCounter } from '#providers';
import { ReplyCollector, producedText } from './collect-reply.js';
import { estimateInputTokens } from './estimate-tokens.js';
import { rememberWith } from './remembered.js';
import type { TextBilling } from './text-billing.js';
import { Settlements } from './settlements.js';
import { TextExchange } from './text-exchange.js';
import type { RoutableCall, RoutedReply, TextRouter } from './text-router.js';
import { TextStream } from './text-stream.js';
import type { ReplyContext, TextStyleCodec } from './text-style-codec.js';

/** What a hold assumes of a reply whose length the caller does not limit, in tokens. */
const DEFAULT_OUTPUT_TOKENS = 4_096;

/** Counting is free, so that it must not be much work: far beyond what any model reads. */
const MAX_COUNTED_CHARACTERS = 2_000_000;

/** A checked request of one style. */
export interface TextOrder<Body> {
  readonly requestId: string;
  /** Of a request that may be repeated. */
  readonly idempotencyKey?: string | undefined;
  readonly caller: {
    readonly accountId: string;
    readonly apiKeyId: string;
    /** Empty: every model is allowed. */
    readonly allowedModels: readonly string[];
  };
  readonly codec: TextStyleCodec<Body>;
  readonly model: string;
  /** What an upstream is told: references resolved. */
  readonly body: Body;
  /** What the caller sent, which styles say back. */
  readonly sentBody: Body;
  /** The caller's own bytes; undefined when `body` is not what they say. */
  readonly bytes: Uint8Array | undefined;
  /** Headers for an upstream of the same style. */
  readonly headers: Readonly<Record<string, string>>;
  /** Told the finished native answer of a style that can be referred to; the end of a stream waits for it. */
  readonly remember?: (answer: JsonObject) => Promise<void>;
}

/** Answers text requests: money held, upstream found, reply written in the caller's style, usage charged. */
export class TextService {
  readonly #router: TextRouter;
  readonly #billing: TextBilling;
  readonly #counter: () => Promise<TokenCounter>;
  readonly #settlements: Settlements;

  constructor(router: TextRouter, billing: TextBilling, counter: () => Promise<TokenCounter>, clock: Clock) {
    this.#router = router;
    this.#billing = billing;
    this.#counter = counter;
    this.#settlements = new Settlements(clock);
  }

  /**
   * The whole reply as the JSON of its style, envelope included.
   *
   * @throws GatewayError 4xx for the request's own faults, 402 without money, 5xx when no upstream could reply.
   */
  async answer<Body>(order: TextOrder<Body>, signal: AbortSignal): Promise<string> {
    const { call, context, exchange } = await this.#begin(order, false);
    const collector = new ReplyCollector();
    try {
      const { reply } = await this.#route(call, exchange, signal);
      if (reply.kind === 'body') return await this.#relayBody(order, reply, exchange);
      const collected = await this.#collect(reply, collector, exchange);
      const remembered = rememberWith(order.remember, order.requestId);
      const json = order.codec.answer(collected, { ...context, onAnswer: remembered.note });
      exchange.settle({ usage: collected.finish.usage, produced: '', status: 'completed' });
      await remembered.done();
      return json;
    } catch (error) {
      const produced = producedText(collector.blocks);
      exchange.settle({ usage: undefined, produced: signal.aborted ? produced : '', status: endOf(signal) });
      throw error;
    }
  }

  /**
   * A stream that is not yet open: `open` finds the upstream.
   *
   * @throws GatewayError as `answer`, before any upstream is asked.
   */
  async stream<Body>(order: TextOrder<Body>, signal: AbortSignal): Promise<TextStream> {
    const { call, context, exchange } = await this.#begin(order, true);
    const remembered = rememberWith(order.remember, order.requestId);
    return new TextStream({
      exchange,
      remembered,
      encoder: order.codec.stream({ ...context, onAnswer: remembered.note }),
      route: () => this.#route(call, exchange, signal),
      signal,
    });
  }

  /**
   * Input tokens of a request, counted with a tokenizer.
   *
   * @throws GatewayError `model_not_found`, or `unsupported_parameter` for what cannot be counted, `request_too_large`.
   */
  async countTokens<Body>(codec: TextStyleCodec<Body>, body: Body, model: string): Promise<number> {
    this.#router.expectModel(model);
    const request = codec.read(body, model, false);
    const characters = countableText(request).length;
    if (characters > MAX_COUNTED_CHARACTERS)
      throw new GatewayError(
        'request_too_large',
        `The request holds ${characters} characters of text; tokens are counted up to ${MAX_COUNTED_CHARACTERS}.`,
      );
    const counter = await this.#counter();
    return (await counter.countRequest(request)).inputTokens;
  }

  /** Resolves when what has been answered is settled as well. */
  close(): Promise<void> {
    return this.#settlements.drain();
  }

  async #begin<Body>(
    order: TextOrder<Body>,
    stream: boolean,
  ): Promise<{ call: RoutableCall; context: ReplyContext<Body>; exchange: TextExchange }> {
    const { codec, model, caller, requestId } = order;
    if (caller.allowedModels.length > 0 && !caller.allowedModels.includes(model))
      throw new GatewayError('model_not_allowed', `This API key may not use the model "${model}".`, { param: 'model' });
    this.#router.expectModel(model);
    const inputTokens = estimateInputTokens(order.body, order.bytes?.length);
    const request = once(() => codec.read(order.body, model, stream));
    const hold = await this.#billing.hold({
      requestId,
      idempotencyKey: order.idempotencyKey,
      accountId: caller.accountId,
      apiKeyId: caller.apiKeyId,
      model,
      inputTokens,
      outputTokens: codec.outputLimit(order.body) ?? DEFAULT_OUTPUT_TOKENS,
    });
    const native = once(() => codec.native(order.body, order.bytes));
    const billing = this.#billing;
    const counter = this.#counter;
    return {
      call: { requestId, style: codec.style, stream, model, request, native, headers: order.headers },
      context: contextOf(order, inputTokens),
      exchange: new TextExchange({
        hold,
        request,
        estimatedInputTokens: inputTokens,
        billing,
        counter,
        settlements: this.#settlements,
      }),
    };
  }

  async #route(call: RoutableCall, exchange: TextExchange, signal: AbortSignal): Promise<RoutedReply> {
    const routed = await this.#router.call(call, signal);
    exchange.repliedBy(routed.upstreamId, routed.reply.upstreamRequestId);
    return routed;
  }

  async #relayBody<Body>(
    order: TextOrder<Body>,
    reply: Extract<TextReply, { kind: 'body' }>,
    exchange: TextExchange,
  ): Promise<string> {
    const answer = reply.answer();
    exchange.settle({ status: 'completed', ...reply.outcome() });
    const remembered = rememberWith(order.remember, order.requestId);
    remembered.note(answer);
    await remembered.done();
    return order.codec.wrap(reply.json, answer);
  }

  async #collect(reply: TextReply, collector: ReplyCollector, exchange: TextExchange): Promise<CollectedReply> {
    if (reply.kind !== 'events')
      throw new GatewayError('upstream_error', 'The upstream streamed a reply that was not to be streamed.');
    for await (const batch of reply.events) for (const event of batch) collector.add(event);
    const collected = collector.reply();
    const usage = await exchange.usageOf(collected.finish.usage, producedText(collected.blocks));
    return { ...collected, finish: { ...collected.finish, usage } };
  }
}

function contextOf<Body>({ requestId, model, sentBody }: TextOrder<Body>, inputTokens: number): ReplyContext<Body> {
  const createdSeconds = Math.floor(Date.now() / 1000);
  return { requestId, model, body: sentBody, createdSeconds, estimatedInputTokens: inputTokens, onAnswer: () => {} };
}

const endOf = (signal: AbortSignal): 'aborted' | 'failed' => (signal.aborted ? 'aborted' : 'failed');

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
