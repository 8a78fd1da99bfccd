import {
  type CollectedReply,
  GatewayError,
  isJsonObject,
  MAX_URL_LENGTH,
  type NamedUrl,
  requestUses,
  type StopSignal,
  type TextPart,
  type TextReply,
  type TextRequest,
  type UserPart,
} from '#contracts';
import { type Clock, FetchRefused, type ForwardedUrls, nextTurn } from '#platform';
import { countableText, type LeavingLimits, type TokenCounter } from '#providers';
import { expectScope } from '../accounts/key-scopes.js';
import type { CallerPresence } from './caller-presence.js';
import { producedText, ReplyCollector } from './collect-reply.js';
import { estimateInput } from './estimate-tokens.js';
import { withoutForeignReasoning } from './gateway-signatures.js';
import type { HostedTools, PlannedOrder } from './hosted-tools/hosted-tools.js';
import { asJson } from './json-object.js';
import { ReadingOn } from './reading-on.js';
import { rememberWith } from './remembered.js';
import { Settlements } from './settlements.js';
import type { TextBilling, TextHoldOrder } from './text-billing.js';
import { type Exchange, TextExchange } from './text-exchange.js';
import type { TextOrder } from './text-order.js';
import type { RoutableCall, RoutedReply, TextRouter } from './text-router.js';
import { endWithoutReply, TextStream } from './text-stream.js';
import type { TextStyleCodec } from './text-style-codec.js';
import type { TextUpstreams } from '../upstreams/text-upstreams.js';
import {
  type AllowedUses,
  contextOf,
  expectModelAllowed,
  heldBy,
  holdOrderOf,
  isLarge,
  latest,
  limited,
  once,
  outputOf,
  reportToolsLeftOut,
  type TextWork,
  tryToWrap,
  unlessLeft,
} from './text-work.js';

/** What text is answered with. */
interface TextParts {
  readonly router: TextRouter;
  readonly billing: TextBilling;
  readonly upstreams: TextUpstreams;
  readonly leaving: LeavingLimits;
  readonly counter: () => Promise<TokenCounter>;
  readonly clock: Clock;
  readonly urls: ForwardedUrls;
  readonly hosted: HostedTools;
}

/**
 * Checks the URLs of a request before any part of it is sent.
 *
 * @param resolvesNames true when an upstream fetches them from the operator's own network.
 * @throws GatewayError `invalid_parameter` naming the field.
 */
async function checkRequestUrls(
  rules: ForwardedUrls,
  named: readonly NamedUrl[],
  resolvesNames: boolean,
): Promise<void> {
  const urls = named.map(({ param, url }) => {
    if (url.length > MAX_URL_LENGTH) throw tooLong(param);
    return refusing(param, () => rules.check(url));
  });
  if (!resolvesNames) return;
  try {
    await rules.checkNames(urls);
  } catch (error) {
    throw refusalOf(error, named[0]?.param ?? 'url');
  }
}

const tooLong = (param: string): GatewayError =>
  new GatewayError('invalid_parameter', `${param} must be a URL of at most ${MAX_URL_LENGTH} characters.`, { param });

function refusing<T>(param: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw refusalOf(error, param);
  }
}

function refusalOf(error: unknown, param: string): unknown {
  if (!(error instanceof FetchRefused)) return error;
  return new GatewayError('invalid_parameter', `${param} must be a public http or https URL: ${error.message}.`, {
    param,
  });
}

/** Fields whose values are no words: files, addresses, and what a vendor sealed. */
const UNREAD = new Set([
  'data',
  'encrypted_content',
  'encrypted_index',
  'file_data',
  'fileData',
  'image_url',
  'inlineData',
  'signature',
  'source',
  'thoughtSignature',
]);

const IMAGES = new Set(['image', 'image_url', 'input_image']);
const IMAGE: UserPart = { type: 'image', source: { kind: 'url', url: '' } };

/**
 * The request to count the tokens of: as it would be written for an upstream of another interface, and where that has no
 * words for it, the words that stand in it. Its own vendor may well answer it.
 *
 * @throws GatewayError whatever `read` throws, `unsupported_parameter` apart.
 */
function countableRequest(body: object, read: () => TextRequest): TextRequest {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'unsupported_parameter') throw error;
    return { ...NOTHING, turns: [{ role: 'user', parts: [...partsIn(body)] }] };
  }
}

const NOTHING: TextRequest = {
  model: '',
  stream: false,
  system: [],
  turns: [],
  tools: [],
  hostedTools: [],
  toolChoice: { mode: 'auto' },
  parallelToolCalls: true,
  format: { type: 'text' },
  stopSequences: [],
};

function* partsIn(value: unknown): Generator<UserPart> {
  if (typeof value === 'string') yield asText(value);
  else if (Array.isArray(value)) for (const entry of value) yield* partsIn(entry);
  else if (isJsonObject(value)) {
    if (typeof value['type'] === 'string' && IMAGES.has(value['type'])) yield IMAGE;
    for (const [name, entry] of Object.entries(value)) if (!UNREAD.has(name)) yield* partsIn(entry);
  }
}

const asText = (text: string): TextPart => ({ type: 'text', text });

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
  readonly #hosted: HostedTools;
  /** How long a caller may read nothing of an answer that waits for them, in milliseconds. */
  readonly stallMs: number;

  constructor({ router, billing, upstreams, leaving, counter, clock, urls, hosted }: TextParts) {
    this.#urls = urls;
    this.#hosted = hosted;
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
    const { context, exchange, route } = await this.#begin(order, false, caller);
    const collector = new ReplyCollector();
    let isOpen = false;
    try {
      const { reply } = await route();
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
      const end = isOpen && caller.hasLeft && !caller.endedBy;
      exchange.settle(
        end
          ? {
              usage: exchange.reportedUsage(),
              produced: producedText(collector.blocks),
              status: 'aborted',
              isUnseen: true,
            }
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
    const { context, exchange, route } = await this.#begin(order, true, caller);
    const remembered = rememberWith(order.remember, order.requestId);
    return new TextStream({
      exchange,
      remembered,
      encoder: order.codec.stream({ ...context, onAnswer: remembered.note }),
      route,
      caller,
      maxBytesLeft: this.#readingOn.maxBytes,
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

  /** Resolves when what has been answered is settled as well. */
  async close(): Promise<void> {
    await this.#readingOn.close();
    await this.#settlements.drain();
    await this.#hosted.close();
  }

  async #begin<Body>(order: TextOrder<Body>, stream: boolean, caller: CallerPresence): Promise<TextWork<Body>> {
    const { codec, model, requestId } = order;
    expectModelAllowed(order);
    if (isLarge(order)) await nextTurn();
    const allowed = this.#usesOf(order);
    const { uses, plan, routes } = allowed;
    const limits = this.#upstreams.limitsOf(model);
    if (isLarge(order)) await nextTurn();
    const input = estimateInput(order.body, order.bytes, limits);
    const wanted = outputOf(order, limits, routes);
    const { limit, replies, beside, most, least } = wanted;
    if (uses.urls.length > 0 || plan) await this.#expectReachable(allowed, holdOrderOf(order, input, wanted));
    if (plan) {
      const output = { outputLimit: limit, outputBeside: beside, outputTokens: most, leastOutputTokens: least };
      return this.#beginLoop(order, { plan, stream, input, modelLimits: limits, ...output }, caller);
    }
    const hold = await this.#billing.hold(holdOrderOf(order, input, wanted));
    // What the caller did not limit is limited to what is held for it.
    const added = limit === undefined ? Math.floor(hold.outputTokens / replies) - beside : undefined;
    const request = once(() => limited(codec.read(order.body, model, stream), added));
    const own = once(() => codec.native(order.body, order.bytes, added));
    const native = latest((account) => withoutForeignReasoning(codec.style, own(), account));
    const exchange = new TextExchange({
      hold,
      request,
      held: heldBy(hold, { input, replies, limits, uses }),
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
      unpriced: uses.unpriced,
      unknownFields: uses.unknownFields,
      onReply: (progress) => exchange.follow(progress),
    };
    const route = (): Promise<RoutedReply> => this.#route(call, order, exchange, caller.signal);
    return { context: contextOf(order, input.shownTokens), exchange, route };
  }

  /** A request whose tools the gateway runs: each of its rounds is held for when it begins. */
  #beginLoop<Body>(
    order: TextOrder<Body>,
    planned: Omit<PlannedOrder<Body>, 'order' | 'billing' | 'settlements' | 'counter'>,
    caller: CallerPresence,
  ): TextWork<Body> {
    const money = { billing: this.#billing, settlements: this.#settlements, counter: this.#counter };
    const { exchange, open } = this.#hosted.begin({ order, ...planned, ...money }, caller);
    this.#readOn(order, caller, exchange);
    const context = contextOf(order, planned.input.shownTokens);
    const route = async (): Promise<RoutedReply> => {
      const routed = await open();
      reportToolsLeftOut(order, routed);
      return routed;
    };
    return { context, exchange, route };
  }

  /** Once the caller has left, the upstream is read on for its usage, within bounds. */
  #readOn<Body>(order: TextOrder<Body>, caller: CallerPresence, exchange: Exchange): void {
    caller.onLeave(() => {
      const left = { accountId: order.caller.accountId, bodyBytes: order.bytes?.length ?? 0 };
      exchange.onOver(this.#readingOn.begin(left, () => caller.stop()));
    });
  }

  /** @throws GatewayError for a URL or a store that may not be read, or without money to read it for; none is held yet. */
  async #expectReachable({ uses, plan, routes }: AllowedUses<unknown>, order: TextHoldOrder): Promise<void> {
    const { accountId } = order;
    const resolvesNames = routes.some(({ upstream }) => upstream.fetchesUrls);
    if (plan?.requestedTools.some(({ kind }) => kind === 'mcp'))
      await this.#billing.expectFunds({ ...order, tools: this.#hosted.firstCalls(plan) });
    else if (resolvesNames) await this.#billing.expectFunds(order);
    if (uses.urls.length > 0) await checkRequestUrls(this.#urls, uses.urls, resolvesNames);
    if (plan) await this.#hosted.expectStores(plan, accountId);
  }

  /** @throws GatewayError for a model or a use that may not go on; no money is held yet. */
  #usesOf<Body>({ codec, model, body, caller }: TextOrder<Body>): AllowedUses<Body> {
    const asked = requestUses(codec.style, asJson(body as object));
    const plan = this.#hosted.plan(codec.style, body, asked, model);
    // What a search cites is the account's files, as if they were read.
    if (plan?.requestedTools.some(({ kind }) => kind === 'file_search')) expectScope(caller, 'files');
    const uses = plan?.uses ?? asked;
    const routes = this.#router.expectModel(model, uses.unpriced, codec.style);
    return { uses, plan, routes };
  }

  async #route(
    call: RoutableCall,
    order: Pick<TextOrder<unknown>, 'onToolsLeftOut'>,
    exchange: TextExchange,
    signal: StopSignal,
  ): Promise<RoutedReply> {
    const routed = await this.#router.call(call, signal);
    reportToolsLeftOut(order, routed);
    exchange.repliedBy(routed.upstreamId, routed.reply.upstreamRequestId);
    return routed;
  }

  async #relayBody<Body>(
    order: TextOrder<Body>,
    reply: Extract<TextReply, { kind: 'body' }>,
    exchange: Exchange,
    caller: CallerPresence,
  ): Promise<string> {
    const answer = reply.answer();
    const wrapped = tryToWrap(() => order.codec.wrap(reply.json, answer, order.sentBody));
    const { usage, produced } = reply.outcome();
    exchange.settle({ usage, produced, status: endOf(caller) });
    if ('refusal' in wrapped) throw wrapped.refusal;
    const remembered = rememberWith(order.remember, order.requestId);
    remembered.note(answer, reply.json);
    await remembered.done();
    return wrapped.json;
  }

  async #collect(reply: TextReply, collector: ReplyCollector, exchange: Exchange): Promise<CollectedReply> {
    if (reply.kind === 'whole') for (const event of reply.events) collector.add(event);
    else if (reply.kind === 'events')
      for await (const batch of reply.events) for (const event of batch) collector.add(event);
    else throw new GatewayError('upstream_error', 'The upstream streamed a reply that was not to be streamed.');
    const collected = collector.reply();
    const usage = await exchange.usageOf(collected.finish.usage, producedText(collected.blocks));
    return { ...collected, finish: { ...collected.finish, usage } };
  }
}

const endOf = (caller: CallerPresence): 'aborted' | 'completed' => (caller.hasLeft ? 'aborted' : 'completed');
