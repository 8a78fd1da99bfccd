import {
  GatewayError,
  type CollectedReply,
  type RequestUses,
  requestUses,
  type TextReply,
  type TextRequest,
} from '#contracts';
import { type ForwardedUrls, nextTurn } from '#platform';
import { countableText, type ModelLimits, type TokenCounter } from '#providers';
import { ReplyCollector, producedText } from './collect-reply.js';
import { countableRequest } from './countable-request.js';
import { estimateInput } from './estimate-tokens.js';
import { withoutForeignReasoning } from './gateway-signatures.js';
import { asJson } from './json-object.js';
import { rememberWith } from './remembered.js';
import { checkRequestUrls } from './request-urls.js';
import type { CallerPresence } from './caller-presence.js';
import { ReadingOn } from './reading-on.js';
import { Settlements } from './settlements.js';
import type { TextBilling } from './text-billing.js';
import { TextExchange } from './text-exchange.js';
import type { TextOrder, TextParts } from './text-order.js';
import type { RoutableCall, RoutedReply, TextRouter } from './text-router.js';
import { endWithoutReply, TextStream } from './text-stream.js';
import type { TextUpstreams } from './text-upstreams.js';
import type { ReplyContext, TextStyleCodec } from './text-style-codec.js';

/** The shortest reply that is worth beginning when the caller names no limit and the balance is low, in tokens. */
const LEAST_OUTPUT_TOKENS = 1_024;

/** Other work runs between the steps of a larger request, in bytes. */
const LARGE_BYTES = 256 * 1024;

/** Counting is free, so that it must not be much work: far beyond what any model reads. */
const MAX_COUNTED_CHARACTERS = 2_000_000;

/** Answers text requests: money held, upstream found, reply written in the caller's style, usage charged. */
export class TextService {
  readonly #router: TextRouter;
  readonly #billing: TextBilling;
  readonly #counter: () => Promise<TokenCounter>;
  readonly #settlements: Settlements;
  readonly #upstreams: TextUpstreams;
  readonly #readingOn: ReadingOn;
  readonly #urls: ForwardedUrls;
  /** How long a caller may read nothing of an answer that waits for them, in milliseconds. */
  readonly stallMs: number;

  constructor({ router, billing, upstreams, leaving, counter, clock, urls }: TextParts) {
    this.#urls = urls;
    this.#router = router;
    this.#billing = billing;
    this.#upstreams = upstreams;
    this.#counter = counter;
    this.#settlements = new Settlements(clock);
    this.#readingOn = new ReadingOn(leaving);
    this.stallMs = leaving.stallMs;
  }

  /**
   * The whole reply as the JSON of its style, envelope included.
   *
   * @throws GatewayError 4xx for the request's own faults, 402 without money, 5xx when no upstream could reply.
   */
  async answer<Body>(order: TextOrder<Body>, caller: CallerPresence): Promise<string> {
    const { call, context, exchange } = await this.#begin(order, false, caller);
    const collector = new ReplyCollector();
    let isOpen = false;
    try {
      const { reply } = await this.#route(call, order, exchange, caller.signal);
      isOpen = true;
      if (reply.kind === 'body') return await this.#relayBody(order, reply, exchange, caller);
      const collected = await this.#collect(reply, collector, exchange);
      const remembered = rememberWith(order.remember, order.requestId);
      // The model has done its work, also where nothing of it can be used.
      exchange.settle({ usage: collected.finish.usage, produced: '', status: endOf(caller) });
      const json = order.codec.answer(collected, { ...context, onAnswer: remembered.note });
      await remembered.done();
      return json;
    } catch (error) {
      // Of a whole reply that broke nothing was delivered; one that its caller did not wait for was.
      const end = isOpen && caller.hasLeft && !this.#readingOn.isClosing;
      exchange.settle(
        end
          ? { usage: exchange.told(), produced: producedText(collector.blocks), status: 'aborted', isUnseen: true }
          : endWithoutReply(error, caller, exchange),
      );
      throw error;
    }
  }

  /**
   * A stream that is not yet open: `open` finds the upstream.
   *
   * @throws GatewayError as `answer`, before any upstream is asked.
   */
  async stream<Body>(order: TextOrder<Body>, caller: CallerPresence): Promise<TextStream> {
    const { call, context, exchange } = await this.#begin(order, true, caller);
    const remembered = rememberWith(order.remember, order.requestId);
    return new TextStream({
      exchange,
      remembered,
      encoder: order.codec.stream({ ...context, onAnswer: remembered.note }),
      route: () => this.#route(call, order, exchange, caller.signal),
      caller,
      maxBytesLeft: this.#readingOn.maxBytes,
      isClosing: () => this.#readingOn.isClosing,
    });
  }

  /**
   * Input tokens of a request, counted with a tokenizer; also of one that only its own vendor understands.
   *
   * @throws GatewayError `model_not_found`, `request_too_large`.
   */
  async countTokens<Body>(codec: TextStyleCodec<Body>, body: Body, model: string): Promise<number> {
    this.#router.expectModel(model);
    const request = countableRequest(body as object, () => codec.read(body, model, false));
    let characters = 0;
    for (const text of countableText(request)) characters += text.length;
    if (characters > MAX_COUNTED_CHARACTERS)
      throw new GatewayError(
        'request_too_large',
        `The request holds ${characters} characters of text; tokens are counted up to ${MAX_COUNTED_CHARACTERS}.`,
      );
    const counter = await this.#counter();
    return (await counter.countRequest(request)).inputTokens;
  }

  /** Lets the upstreams of callers who have left be read on, for `limitMs` at most. */
  finishReading(limitMs: number): Promise<void> {
    return this.#readingOn.finish(limitMs);
  }

  /** From now on whoever leaves was cut off by us, and pays for what was delivered and no more. */
  stopReading(): Promise<void> {
    return this.#readingOn.close();
  }

  /** Resolves when what has been answered is settled as well. */
  async close(): Promise<void> {
    await this.#readingOn.close();
    await this.#settlements.drain();
  }

  async #begin<Body>(
    order: TextOrder<Body>,
    stream: boolean,
    caller: CallerPresence,
  ): Promise<{ call: RoutableCall; context: ReplyContext<Body>; exchange: TextExchange }> {
    const { codec, model, requestId } = order;
    const { unpriced, unknownFields } = await this.#expectAllowed(order);
    const limits = this.#upstreams.limitsOf(model);
    if (isLarge(order)) await nextTurn();
    const input = estimateInput(order.body, order.bytes, limits);
    const { limit, replies, beside, most, least } = outputOf(order, limits);
    const hold = await this.#billing.hold({
      requestId,
      idempotencyKey: order.idempotencyKey,
      accountId: order.caller.accountId,
      apiKeyId: order.caller.apiKeyId,
      model,
      inputTokens: input.heldTokens,
      outputTokens: replies * (beside + most),
      leastOutputTokens: replies * (beside + least),
    });
    // What the caller did not limit is limited to what is held for it.
    const added = limit === undefined ? Math.floor(hold.outputTokens / replies) - beside : undefined;
    const request = once(() => limited(codec.read(order.body, model, stream), added));
    const native = once(() => withoutForeignReasoning(codec.style, codec.native(order.body, order.bytes, added)));
    const exchange = new TextExchange({
      hold,
      request,
      held: { inputTokens: input.heldTokens, outputTokens: hold.outputTokens, hasFiles: input.hasFiles },
      billing: this.#billing,
      counter: this.#counter,
      settlements: this.#settlements,
    });
    this.#readOn(order, caller, exchange);
    const call: RoutableCall = {
      requestId,
      accountId: order.caller.accountId,
      style: codec.style,
      stream,
      model,
      request: unlessLeft(caller, request),
      native: unlessLeft(caller, native),
      headers: order.headers,
      unpriced,
      unknownFields,
      onReply: (progress) => exchange.follow(progress),
    };
    return { call, context: contextOf(order, input.shownTokens), exchange };
  }

  /** Once the caller has left, the upstream is read on for its usage, within bounds. */
  #readOn<Body>(order: TextOrder<Body>, caller: CallerPresence, exchange: TextExchange): void {
    caller.onLeave(() => {
      const left = { accountId: order.caller.accountId, bodyBytes: order.bytes?.length ?? 0 };
      exchange.onOver(this.#readingOn.begin(left, () => caller.stop()));
    });
  }

  /** @throws GatewayError for a model, a use or a URL that may not go on; no money is held yet. */
  async #expectAllowed<Body>(order: TextOrder<Body>): Promise<RequestUses> {
    const { codec, model, body, caller } = order;
    if (caller.allowedModels.length > 0 && !caller.allowedModels.includes(model))
      throw new GatewayError('model_not_allowed', `This API key may not use the model "${model}".`, { param: 'model' });
    if (isLarge(order)) await nextTurn();
    const uses = requestUses(codec.style, asJson(body as object));
    const routes = this.#router.expectModel(model, uses.unpriced, codec.style);
    const resolvesNames = routes.some(({ upstream }) => upstream.fetchesUrls);
    if (uses.urls.length > 0) await checkRequestUrls(this.#urls, uses.urls, resolvesNames);
    return uses;
  }

  async #route(
    call: RoutableCall,
    { onToolsLeftOut }: Pick<TextOrder<unknown>, 'onToolsLeftOut'>,
    exchange: TextExchange,
    signal: AbortSignal,
  ): Promise<RoutedReply> {
    const routed = await this.#router.call(call, signal);
    if (routed.toolsLeftOut.length > 0) onToolsLeftOut?.(routed.toolsLeftOut);
    exchange.repliedBy(routed.upstreamId, routed.reply.upstreamRequestId);
    return routed;
  }

  async #relayBody<Body>(
    order: TextOrder<Body>,
    reply: Extract<TextReply, { kind: 'body' }>,
    exchange: TextExchange,
    caller: CallerPresence,
  ): Promise<string> {
    const answer = reply.answer();
    const { usage, produced } = reply.outcome();
    exchange.settle({ usage, produced, status: endOf(caller) });
    const remembered = rememberWith(order.remember, order.requestId);
    remembered.note(answer);
    await remembered.done();
    return order.codec.wrap(reply.json, answer, order.sentBody);
  }

  async #collect(reply: TextReply, collector: ReplyCollector, exchange: TextExchange): Promise<CollectedReply> {
    if (reply.kind === 'whole') for (const event of reply.events) collector.add(event);
    else if (reply.kind === 'events')
      for await (const batch of reply.events) for (const event of batch) collector.add(event);
    else throw new GatewayError('upstream_error', 'The upstream streamed a reply that was not to be streamed.');
    const collected = collector.reply();
    const usage = await exchange.usageOf(collected.finish.usage, producedText(collected.blocks));
    return { ...collected, finish: { ...collected.finish, usage } };
  }
}

/** Each look through what so many bytes hold may take some ten milliseconds; of resolved references nobody knows their number. */
const isLarge = ({ bytes }: TextOrder<unknown>): boolean => bytes === undefined || bytes.length > LARGE_BYTES;

/** How much a request may write: how many replies, and of each what is thought beside the limit, the most and the least. */
function outputOf<Body>({ codec, body }: TextOrder<Body>, { maxOutputTokens }: ModelLimits) {
  const limit = codec.outputLimit(body);
  const needed = Math.max(0, codec.thinkingBudget(body) ?? 0) + LEAST_OUTPUT_TOKENS;
  return {
    limit,
    replies: codec.replies?.(body) ?? 1,
    beside: codec.thinkingBesideLimit?.(body) ?? 0,
    most: limit ?? Math.max(maxOutputTokens, needed),
    least: limit ?? Math.min(maxOutputTokens, needed),
  };
}

function contextOf<Body>({ requestId, model, sentBody }: TextOrder<Body>, inputTokens: number): ReplyContext<Body> {
  const createdSeconds = Math.floor(Date.now() / 1000);
  return { requestId, model, body: sentBody, createdSeconds, estimatedInputTokens: inputTokens, onAnswer: () => {} };
}

const limited = (request: TextRequest, limit: number | undefined): TextRequest =>
  limit === undefined ? request : { ...request, maxOutputTokens: limit };

const endOf = (caller: CallerPresence): 'aborted' | 'completed' => (caller.hasLeft ? 'aborted' : 'completed');

/** Stops a request whose caller has left from asking an upstream, which nothing would be charged for. */
function unlessLeft<T>(caller: CallerPresence, read: () => T): () => T {
  return () => {
    if (caller.hasLeft) throw new Error('the caller has left');
    return read();
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
