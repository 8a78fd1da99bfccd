import {
  type CollectedReply,
  GatewayError,
  isJsonObject,
  MAX_URL_LENGTH,
  type NamedUrl,
  requestUses,
  type TextPart,
  type TextReply,
  type TextRequest,
  type TextStyle,
  type UserPart,
} from '#contracts';
import { type Clock, FetchRefused, type ForwardedUrls, nextTurn } from '#platform';
import { countableText, type LeavingLimits, refusedByModel, type TokenCounter } from '#providers';
import { expectScope } from '../accounts/key-scopes.js';
import { ClientConnection, DisconnectDrainer } from './client-connection.js';
import { producedText, ReplyCollector } from './collect-reply.js';
import { estimateInput } from './estimate-tokens.js';
import type { HostedTools } from './hosted-tools/hosted-tools.js';
import { asJson } from './json-object.js';
import { Settlements } from './settlements.js';
import type { TextBilling, TextHoldOrder, TextQuote } from './text-billing.js';
import { type Metering, TextMetering } from './text-metering.js';
import { type BegunText, type CheckedText, type TextOrigin, TextRequestContext } from './text-request.js';
import type { RoutedReply, TextRouter } from './text-router.js';
import { UnreadableCall } from './tool-arguments.js';
import { endWithoutReply, TextStream } from './text-stream.js';
import type { TextStyleCodec } from './text-style-codec.js';
import type { TextUpstreams } from '../upstreams/text-upstreams.js';

/** What text is answered with. */
interface TextDependencies {
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
  GatewayError.ofField(param, `must be a URL of at most ${MAX_URL_LENGTH} characters`);

function refusing<T>(param: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw refusalOf(error, param);
  }
}

function refusalOf(error: unknown, param: string): unknown {
  if (!(error instanceof FetchRefused)) return error;
  return GatewayError.ofField(param, `must be a public http or https URL: ${error.message}`);
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
 * The request to count the tokens of: as it would be written for an upstream of another interface. A field that other interfaces have no
 * words for, such as several answers to one prompt, counts as the words that stand in it; where all of it is such, so does all of it. Its
 * own vendor may well answer it.
 *
 * @throws GatewayError whatever `read` throws, `unsupported_parameter` apart.
 */
function countableRequest<Body extends object>(body: Body, read: (body: Body) => TextRequest): TextRequest {
  try {
    return read(body);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'unsupported_parameter') throw error;
    const { [error.param ?? '']: left, ...others } = body as Readonly<Record<string, unknown>>;
    if (left === undefined) return { ...NOTHING, turns: [{ role: 'user', parts: [...partsIn(body)] }] };
    const request = countableRequest(others as Body, read);
    const parts = [...partsIn(left)];
    return parts.length === 0 ? request : { ...request, turns: [...request.turns, { role: 'user', parts }] };
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

/** `dropped`: the upstream refused proofs of reasoning in the request, and got it once more without them. */
const PROOFS_HEADER = 'x-gateway-proofs';

/** Counting is free, so that it must not be much work: far beyond what any model reads. */
const MAX_COUNTED_CHARACTERS = 2_000_000;

/** Where a style says how many replies it wants. */
const SEVERAL_REPLIES: Readonly<Partial<Record<TextStyle, string>>> = { gemini: 'generationConfig.candidateCount' };

/** @throws GatewayError `unsupported_parameter` for what the model does not take at any of its upstreams. */
function expectTaken(request: TextRequestContext<unknown>): void {
  const { routes, plan, output } = request;
  const { style } = request.checked.codec;
  const asked = { style, isTranslated: plan !== undefined, request: () => firstAsked(request) };
  let refusal: GatewayError | undefined;
  for (const { upstream, traits } of routes) {
    if (!traits) return;
    const refused =
      output.replies > 1 && traits.several_replies === 'refused'
        ? severalRefused(SEVERAL_REPLIES[style] ?? 'n')
        : refusedByModel(asked, upstream.provider.protocol, traits);
    if (!refused) return;
    refusal ??= refused;
  }
  if (refusal) throw refusal;
}

/** What a model is first asked for: tools that the gateway runs are functions to it. */
function firstAsked(request: TextRequestContext<unknown>): TextRequest {
  const asked = request.asked();
  const { plan } = request;
  if (!plan) return asked;
  const tools = [...asked.tools, ...plan.requestedTools.map(({ kind }) => ({ name: kind }))];
  return { ...asked, tools, ...(plan.forced.length > 0 && { toolChoice: { mode: 'required', names: [] } }) };
}

const severalRefused = (param: string): GatewayError =>
  new GatewayError(
    'unsupported_parameter',
    `${param}: the model writes one reply to a prompt. Ask several times instead.`,
    {
      param,
    },
  );

/** Answers text requests: money held, upstream found, reply written in the caller's style, usage charged. */
export class TextService {
  private readonly router: TextRouter;
  private readonly billing: TextBilling;
  private readonly counter: () => Promise<TokenCounter>;
  private readonly settlements: Settlements;
  private readonly upstreams: TextUpstreams;
  private readonly drainer: DisconnectDrainer;
  private readonly urls: ForwardedUrls;
  private readonly hosted: HostedTools;
  /** How long a caller may read nothing of an answer that waits for them, in milliseconds. */
  readonly stallMs: number;

  constructor({ router, billing, upstreams, leaving, counter, clock, urls, hosted }: TextDependencies) {
    this.urls = urls;
    this.hosted = hosted;
    this.router = router;
    this.billing = billing;
    this.upstreams = upstreams;
    this.counter = counter;
    this.settlements = new Settlements(clock);
    this.drainer = new DisconnectDrainer(leaving);
    this.stallMs = leaving.stallMs;
  }

  /**
   * The whole reply as the JSON of its style, envelope included.
   *
   * @throws GatewayError 4xx for the request's own faults, 402 without money, 5xx when no upstream could reply.
   */
  async answer<Body>(request: TextRequestContext<Body>): Promise<string> {
    const { client } = request;
    const begun = await this.begin(request);
    const { metering } = begun;
    const collector = new ReplyCollector();
    let isOpen = false;
    try {
      const { reply } = await this.ask(request, begun);
      isOpen = true;
      if (request.origin.caller.isLogged === true)
        request.words = reply.kind === 'body' ? reply.words : () => producedText(collector.blocks);
      if (reply.kind === 'body') return await relayBody(request, reply, metering);
      const collected = await this.collect(reply, collector, metering);
      const answer = (): string => request.checked.codec.answer(collected, request.replyContext());
      const json = paidUnlessBroken(answer, () =>
        metering.settle({ usage: collected.finish.usage, produced: '', status: endOf(client) }),
      );
      await request.stored();
      return json;
    } catch (error) {
      if (error instanceof UnreadableCall) this.billing.noteFailure?.(request.origin.caller.accountId, error);
      // Of a whole reply that broke nothing was delivered; one that its caller did not wait for was.
      const isDelivered = isOpen && client.owesUnseen;
      metering.settle(
        isDelivered
          ? {
              usage: metering.reportedUsage(),
              produced: producedText(collector.blocks),
              status: 'aborted',
              isUnseen: true,
            }
          : endWithoutReply(error, client, metering),
      );
      throw error;
    }
  }

  /**
   * A stream that is not yet open: `open` finds the upstream.
   *
   * @throws GatewayError as `answer`, before any upstream is asked.
   */
  async stream<Body>(request: TextRequestContext<Body>): Promise<TextStream> {
    const begun = await this.begin(request);
    const encoder = request.checked.codec.stream(request.replyContext());
    return new TextStream({ service: this, request, begun, encoder, maxBytesLeft: this.drainer.maxBytes });
  }

  /**
   * Chooses an upstream, and waits for the first sign of its reply.
   *
   * @throws GatewayError of the last upstream that was asked; what the client's signal throws when it has left.
   */
  async ask(request: TextRequestContext<unknown>, begun: BegunText): Promise<RoutedReply> {
    const routed = await (begun.loop ? begun.loop.open() : this.router.call(begun.call, request.client.signal)).catch(
      (error: unknown) => {
        this.billing.noteFailure?.(request.origin.caller.accountId, error);
        throw error;
      },
    );
    if (routed.toolsLeftOut.length > 0) request.origin.onToolsLeftOut?.(routed.toolsLeftOut);
    this.sayHeaders(request, routed.reply);
    request.writtenBy(routed.upstreamId, routed.vendorAccount);
    if (!begun.loop)
      begun.metering.repliedBy(routed.upstreamId, routed.reply.upstreamRequestId, routed.costs, routed.vendorCall);
    return routed;
  }

  private sayHeaders({ origin }: TextRequestContext<unknown>, { withoutProofs, headers }: TextReply): void {
    if (withoutProofs) origin.onHeader?.(PROOFS_HEADER, 'dropped');
    if (headers) for (const [name, value] of Object.entries(headers)) origin.onHeader?.(name, value);
  }

  /**
   * Input tokens of a request, counted with a tokenizer; also of one that only its own vendor understands.
   *
   * @throws GatewayError `model_not_found`, `request_too_large`.
   */
  async countTokens<Body>(codec: TextStyleCodec<Body>, body: Body, model: string): Promise<number> {
    this.router.expectModel(model);
    const request = countableRequest(body as Body & object, (read) => codec.read(read, model, false));
    let characters = 0;
    for (const text of countableText(request)) characters += text.length;
    if (characters > MAX_COUNTED_CHARACTERS)
      throw new GatewayError(
        'request_too_large',
        `The request holds ${characters} characters of text; tokens are counted up to ${MAX_COUNTED_CHARACTERS}.`,
      );
    const counter = await this.counter();
    return (await counter.countRequest(request)).inputTokens;
  }

  /**
   * What a request would cost if it wrote as much as it may, with its input counted by a tokenizer; nothing is held or asked.
   *
   * @throws GatewayError as `answer`, but for what an upstream or the balance says.
   */
  async quote<Body>(checked: CheckedText<Body>, caller: TextOrigin['caller']): Promise<TextQuote> {
    const client = new ClientConnection(caller.accountId);
    const reserve = (): void => undefined;
    const request = new TextRequestContext(checked, {
      requestId: '',
      idempotencyKey: undefined,
      caller,
      client,
      reserve,
    });
    await this.measure(request);
    const order = this.firstOrder(request);
    // Tools that the gateway runs are asked of an upstream in rounds, each in a form of its own.
    if (!request.plan) await this.router.expectTaken(request.callFor({ follow: () => undefined }));
    const { codec, body, model } = checked;
    const counted = await this.countTokens(codec, body, model);
    return this.billing.quote(order, counted);
  }

  /** Resolves when what has been answered is settled as well. */
  async close(): Promise<void> {
    await this.drainer.close();
    await this.settlements.drain();
    this.router.close();
    await this.hosted.close();
  }

  /**
   * All that comes before an upstream is asked, in this order: the model, what the request asks for, its size, addresses and
   * stores, money. Nothing is held where it throws.
   *
   * @throws GatewayError as `answer`.
   */
  private async begin<Body>(request: TextRequestContext<Body>): Promise<BegunText> {
    const { codec, model, body } = request.checked;
    await this.measure(request);
    if (request.uses.urls.length > 0 || request.plan) await this.expectReachable(request);
    const money = { billing: this.billing, settlements: this.settlements, counter: this.counter };
    if (request.plan) {
      const begun = this.hosted.begin(request, request.plan, money);
      this.drainWhenLeft(request, begun.metering);
      return begun;
    }
    const hold = await this.billing.hold(request.holdOrder());
    const held = request.coveredBy(hold);
    const metering = new TextMetering({
      hold,
      held,
      request: () => request.translated(),
      countable: () => countableRequest(body as Body & object, (read) => codec.read(read, model, false)),
      ...money,
    });
    this.drainWhenLeft(request, metering);
    return { metering, call: request.callFor(metering) };
  }

  /** What comes before an address is looked up and money is held: the model, what the request asks for, its size. */
  private async measure<Body>(request: TextRequestContext<Body>): Promise<void> {
    const { codec, model, body, bytes } = request.checked;
    const { caller } = request.origin;
    request.expectModelAllowed();
    if (request.isLarge) await nextTurn();
    const uses = requestUses(codec.style, asJson(body as object));
    const asked = uses.unpriced.length === 0 ? uses : await this.billing.priced(model, uses, caller.priceList);
    request.plan = this.hosted.plan(codec.style, body, asked, { model, priceList: caller.priceList });
    // What a search cites is the account's files, as if they were read.
    if (request.plan?.requestedTools.some(({ kind }) => kind === 'file_search')) expectScope(caller, 'files');
    request.uses = request.plan?.uses ?? asked;
    request.routes = this.router.expectModel(model, request.uses.unpriced, codec.style, caller.priceList);
    request.limits = this.upstreams.limitsOf(model);
    if (request.isLarge) await nextTurn();
    request.input = estimateInput(body, bytes, request.limits);
    request.output = request.boundsOfOutput();
    expectTaken(request);
  }

  /** Once the caller has left, the upstream is read on for its usage, within bounds. */
  private drainWhenLeft({ client, origin, checked }: TextRequestContext<unknown>, metering: Metering): void {
    client.onLeave(() => {
      const left = { accountId: origin.caller.accountId, bodyBytes: checked.bytes?.length ?? 0 };
      metering.onOver(this.drainer.begin(left, () => client.stop()));
    });
  }

  /** @throws GatewayError for a URL or a store that may not be read, or without money to read it for; none is held yet. */
  private async expectReachable(request: TextRequestContext<unknown>): Promise<void> {
    const { uses, plan, routes, origin } = request;
    const resolvesNames = routes.some(({ upstream }) => upstream.fetchesUrls);
    if (resolvesNames || plan?.requestedTools.some(({ kind }) => kind === 'mcp'))
      await this.billing.expectFunds(this.firstOrder(request));
    if (uses.urls.length > 0) await checkRequestUrls(this.urls, uses.urls, resolvesNames);
    if (plan) await this.hosted.expectStores(plan, origin.caller.accountId);
  }

  /** What is held first, with the calls that the gateway may make before its model is asked again. */
  private firstOrder(request: TextRequestContext<unknown>): TextHoldOrder {
    const { plan } = request;
    return { ...request.holdOrder(), ...(plan && { tools: this.hosted.firstCalls(plan) }) };
  }

  private async collect(reply: TextReply, collector: ReplyCollector, metering: Metering): Promise<CollectedReply> {
    if (reply.kind === 'whole') for (const event of reply.events) collector.add(event);
    else if (reply.kind === 'events')
      for await (const batch of reply.events) for (const event of batch) collector.add(event);
    else throw new GatewayError('upstream_error', 'The upstream streamed a reply that was not to be streamed.');
    const collected = collector.reply();
    const usage = await metering.usageOf(collected.finish.usage, producedText(collected.blocks));
    return { ...collected, finish: { ...collected.finish, usage } };
  }
}

/** Settles a whole reply, also one that its style refuses: the model has done its work. One that nobody can read is as free as any broken one. */
function paidUnlessBroken(write: () => string, settle: () => void): string {
  try {
    const json = write();
    settle();
    return json;
  } catch (error) {
    if (error instanceof GatewayError && !error.isUnreadable) settle();
    throw error;
  }
}

/**
 * The answer around an upstream's own JSON.
 *
 * @throws GatewayError `upstream_error` where a reply of a strange shape would end in a TypeError: it costs nothing.
 */
async function relayBody<Body>(
  request: TextRequestContext<Body>,
  reply: Extract<TextReply, { kind: 'body' }>,
  metering: Metering,
): Promise<string> {
  const { codec, sentBody } = request.checked;
  const answer = reply.answer();
  const { usage, produced } = reply.outcome();
  const settle = (): void => metering.settle({ usage, produced, status: endOf(request.client) });
  const wrap = (): string => {
    try {
      return codec.wrap(reply.json, answer, sentBody);
    } catch (error) {
      if (error instanceof GatewayError) throw error;
      const message = 'The upstream sent something that is not part of its protocol.';
      throw new GatewayError('upstream_error', message, { cause: error, isUnreadable: true });
    }
  };
  const json = paidUnlessBroken(wrap, settle);
  request.store(answer, reply.json);
  await request.stored();
  return json;
}

const endOf = (client: ClientConnection): 'aborted' | 'completed' => (client.hasLeft ? 'aborted' : 'completed');
