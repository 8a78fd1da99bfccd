import {
  GatewayError,
  type JsonObject,
  type NativeBody,
  type RequestUses,
  type TextCall,
  type TextRequest,
  type TextStyle,
} from '#contracts';
import { logger } from '#platform';
import { DEFAULT_MODEL_LIMITS, leastOutputLimit, type ModelLimits } from '#providers';
import type { ReserveMemory } from '../limits/reserve-memory.js';
import type { ClientConnection } from './client-connection.js';
import type { InputEstimate } from './estimate-tokens.js';
import { conversationKey } from './conversation-key.js';
import type { AskedConversation } from './conversations.js';
import { lastProofName, type ReadableProofs, withoutForeignReasoning } from './gateway-signatures.js';
import type { ToolPlan } from './hosted-tools/requested-tools.js';
import type { ToolLoop } from './hosted-tools/tool-loop.js';
import { pricedBeside, type TextHold, type TextHoldOrder } from './text-billing.js';
import { type HeldTokens, isOpenEnded, type Metering, replyBounds, type TextMetering } from './text-metering.js';
import type { WrittenBy } from './item-store.js';
import { asJson } from './json-object.js';
import type { RoutableCall } from './text-router.js';
import type { ReplyContext, TextStyleCodec } from './text-style-codec.js';
import type { Attribution } from '../billing/usage/attribution.js';
import type { TextRoute } from '../upstreams/text-upstreams.js';

const log = logger('text');

/** Other work runs between the steps of a larger request, in bytes. */
const LARGE_BYTES = 128 * 1024;

/** The shortest reply that is worth beginning when the caller names no limit and the balance is low, in tokens. */
const LEAST_OUTPUT_TOKENS = 1_024;

/** What a route has read of a request and checked. */
export interface CheckedText<Body> {
  readonly codec: TextStyleCodec<Body>;
  readonly model: string;
  /** What an upstream gets: references resolved. */
  readonly body: Body;
  /** What the caller sent, which styles say back. */
  readonly sentBody: Body;
  /** The caller's own bytes; undefined when `body` is not what they say. */
  readonly bytes: Uint8Array | undefined;
  /** The caller's. */
  readonly headers: TextCall['headers'];
  /** Whether the answer is streamed. */
  readonly stream: boolean;
  /** Who wrote the stored response that it goes on with. */
  readonly continues?: WrittenBy | undefined;
  /** Whether it holds what one vendor account alone can read, beside the ids that an upstream must allow. */
  readonly isBound?: (() => boolean) | undefined;
  /** Stores the finished native answer of a style that can be referred to, given as JSON too where that is at hand; the end of the answer waits for it. */
  readonly remember?: (answer: JsonObject, json: string | undefined, by: WrittenBy | undefined) => Promise<void>;
  /** Makes the whole answer of what the style writes, where that is but a part of it. */
  readonly complete?: (json: string) => Promise<readonly Buffer[]>;
}

/** Whose request it is. */
export interface TextOrigin {
  readonly requestId: string;
  /** Of a request that may be repeated. */
  readonly idempotencyKey: string | undefined;
  readonly caller: {
    readonly accountId: string;
    readonly apiKeyId: string;
    /** Undefined: the book alone. */
    readonly priceList?: string | undefined;
    /** Empty: every model is allowed. */
    readonly allowedModels: readonly string[];
    /** What the key is limited to (`KEY_SCOPES`); empty: everything. */
    readonly scopes: readonly string[];
    /** Whether its prompt and answer are logged. */
    readonly isLogged?: boolean;
  };
  readonly client: ClientConnection;
  /** Who and what it is for. */
  readonly attribution?: Attribution | undefined;
  /** Memory for what the request makes the gateway read. */
  readonly reserve: ReserveMemory;
  /** How often a vendor may be asked to go on with a reply that it left unfinished; absent: not at all. */
  readonly continuations?: number;
  /** Called before the answer begins with the offered tools that were not sent to the upstream. */
  readonly onToolsLeftOut?: (names: readonly string[]) => void;
  /** Called before the answer begins with a header for it. */
  readonly onHeader?: (name: string, value: string) => void;
}

/** How much a request may write, in tokens. */
export interface OutputBounds {
  /** Of each reply, as the caller limits it; undefined: it does not. */
  readonly limit: number | undefined;
  readonly replies: number;
  /** What each reply may think beside the limit. */
  readonly beside: number;
  readonly most: number;
  /** What is worth beginning when the balance is low. */
  readonly least: number;
}

/**
 * All that is known of one text request, from its checked body to its settlement. What is known later is set by the step that
 * finds it out (`TextService`): what it asks for, what it may cost, what its money covers.
 */
export class TextRequestContext<Body> {
  /** What it asks for beside its tokens, that an upstream must allow. */
  uses: RequestUses = { unpriced: [], unknownFields: [], urls: [] };
  /** What of it the gateway runs itself; undefined: nothing. */
  plan: ToolPlan<Body> | undefined;
  /** The upstreams that may be asked. */
  routes: readonly TextRoute[] = [];
  limits: ModelLimits = DEFAULT_MODEL_LIMITS;
  input: InputEstimate = { shownTokens: 0, heldTokens: 0, mostTokens: 0, hasFiles: false };
  output: OutputBounds = { limit: undefined, replies: 1, beside: 0, most: 0, least: 0 };
  /** What was answered until now; undefined where nothing is logged, or nothing was answered. */
  words: (() => string) | undefined;
  /** The limit that an upstream is given of what is held, where the caller named none. */
  private addedLimit: number | undefined;
  private askedRequest: TextRequest | undefined;
  private translatedRequest: TextRequest | undefined;
  private native: NativeBody | undefined;
  private cleaned: (ReadableProofs & { readonly body: NativeBody }) | undefined;
  private writer: WrittenBy | undefined;
  private saving: Promise<void> | undefined;

  constructor(
    readonly checked: CheckedText<Body>,
    readonly origin: TextOrigin,
  ) {}

  get requestId(): string {
    return this.origin.requestId;
  }

  get client(): ClientConnection {
    return this.origin.client;
  }

  /** Each pass over the content of so many bytes may take some ten milliseconds; the size of resolved references is unknown. */
  get isLarge(): boolean {
    const { bytes } = this.checked;
    return bytes === undefined || bytes.length > LARGE_BYTES;
  }

  /** @throws GatewayError `model_not_allowed`: the key is limited to other models. */
  expectModelAllowed(): void {
    const { allowedModels } = this.origin.caller;
    const { model } = this.checked;
    if (allowedModels.length > 0 && !allowedModels.includes(model))
      throw new GatewayError('model_not_allowed', `This API key may not use the model "${model}".`, { param: 'model' });
  }

  /** How much it may write at the upstreams that may be asked: a limit below the lowest that one takes is sent as that one. */
  boundsOfOutput(): OutputBounds {
    const { codec, body } = this.checked;
    const limit = codec.outputLimit(body);
    const sent =
      limit === undefined ? undefined : Math.max(limit, ...this.routes.map((route) => leastSent(route, codec.style)));
    const needed = Math.max(0, codec.thinkingBudget(body) ?? 0) + LEAST_OUTPUT_TOKENS;
    return {
      limit,
      replies: codec.replies?.(body) ?? 1,
      beside: codec.thinkingBesideLimit?.(body) ?? 0,
      most: sent ?? Math.max(this.limits.maxOutputTokens, needed),
      least: sent ?? Math.min(this.limits.maxOutputTokens, needed),
    };
  }

  /**
   * How often its vendor may be asked to go on. A reply without a limit is given one that a single request reaches, so that only one with a
   * limit is left unfinished; one that passes through is its caller's to go on with.
   */
  private get continuations(): number {
    const { limit, replies } = this.output;
    const { style } = this.checked.codec;
    const mayGoOn = this.routes.some(
      ({ upstream: { provider } }) => provider.continues === true && provider.protocol !== style,
    );
    return limit === undefined || replies > 1 || this.plan || !mayGoOn ? 0 : (this.origin.continuations ?? 0);
  }

  /** What is held where it is one call of its model, or one that is gone on with: each reads the prompt again, and what was written until then. */
  holdOrder(): TextHoldOrder {
    const { requestId, idempotencyKey, caller, attribution } = this.origin;
    const { replies, beside, most, least } = this.output;
    const { continuations } = this;
    const allInput = (tokens: number): number => tokens + continuations * (tokens + beside + most);
    const { unpriced } = this.uses;
    const asked = unpriced.length === 0 ? undefined : pricedBeside(unpriced);
    return {
      requestId,
      idempotencyKey,
      accountId: caller.accountId,
      apiKeyId: caller.apiKeyId,
      priceList: caller.priceList,
      model: this.checked.model,
      inputTokens: allInput(this.input.heldTokens),
      mostInputTokens: allInput(this.input.mostTokens),
      outputTokens: replies * (beside + most),
      leastOutputTokens: replies * (beside + least),
      attribution,
      contextTokens: this.limits.contextTokens,
      tier: asked?.tier,
      opens: asked?.opens,
      searches: asked?.searches,
      requests: 1 + continuations,
    };
  }

  /** The highest limit that every upstream takes for a reply that is not streamed. */
  private mostUnstreamed(): number {
    if (this.checked.stream) return Number.POSITIVE_INFINITY;
    return Math.min(...this.routes.map(({ traits }) => traits?.unstreamed_output_tokens ?? Number.POSITIVE_INFINITY));
  }

  /** Takes note of what is held: what the caller did not limit is limited to it. Answers the most that may be charged, whatever the upstream reports. */
  coveredBy({ outputTokens }: TextHold): HeldTokens {
    const { limit, replies, beside } = this.output;
    if (limit === undefined)
      this.addedLimit = Math.min(this.mostUnstreamed(), Math.floor(outputTokens / replies) - beside);
    const { heldTokens: inputTokens, hasFiles } = this.input;
    const bounds = replyBounds({ inputTokens, replies, limits: this.limits, isOpenEnded: isOpenEnded(this.uses) });
    return { inputTokens, outputTokens, hasFiles, bounds };
  }

  /**
   * What the caller asks for in the gateway's own words, without the tools that the gateway runs; made when first asked for.
   *
   * @throws GatewayError `unsupported_parameter` for what no other protocol can say.
   */
  asked(): TextRequest {
    const { codec, body, model, stream } = this.checked;
    return (this.askedRequest ??= codec.read(this.plan?.body ?? body, model, stream));
  }

  /**
   * The request for an upstream of another protocol and for counting, with its limit; made when first asked for.
   *
   * @throws GatewayError `unsupported_parameter` for what no other protocol can say.
   */
  translated(): TextRequest {
    return (this.translatedRequest ??= limited(this.asked(), this.addedLimit));
  }

  /** The body for an upstream of the same style, with those proofs of reasoning that it can read; made when first asked for. */
  nativeFor(account: string | undefined, provenFrom?: string): NativeBody {
    const { codec, body, bytes } = this.checked;
    const known = this.cleaned;
    if (known && known.account === account && known.provenFrom === provenFrom) return known.body;
    this.native ??= codec.native(body, bytes, this.addedLimit);
    const cleaned = withoutForeignReasoning(codec.style, this.native, { account, provenFrom });
    this.cleaned = { account, provenFrom, body: cleaned };
    return cleaned;
  }

  /** What is known of the conversation that it belongs to. */
  conversation(): AskedConversation {
    const { codec, model, body, continues, isBound } = this.checked;
    const { caller, attribution } = this.origin;
    const session = attribution?.session;
    const { style } = codec;
    return {
      key: () => conversationKey({ accountId: caller.accountId, model, style, session, body: body as object }),
      continues,
      lastProof: () => lastProofName(style, asJson(body as object)),
      isBound: () => this.uses.unpriced.some(({ kind }) => kind === 'account_ids') || isBound?.() === true,
    };
  }

  /** Takes note of who writes the answer. */
  writtenBy(upstream: string, account: string): void {
    this.writer = { upstream, account };
  }

  /**
   * The request as the router asks upstreams for it. One whose client has left asks none: nothing would be charged for it.
   *
   * @param metering is told how the replies get on.
   */
  callFor(metering: Pick<TextMetering, 'follow'>): RoutableCall {
    const { codec, model, stream, headers } = this.checked;
    const conversation = this.conversation();
    const mayContinue = this.continuing();
    return {
      requestId: this.requestId,
      accountId: this.origin.caller.accountId,
      priceList: this.origin.caller.priceList,
      session: this.origin.attribution?.session,
      maxTokens: this.output.limit ?? this.addedLimit,
      style: codec.style,
      stream,
      model,
      request: () => {
        this.client.ask();
        return this.translated();
      },
      native: (account, provenFrom) => {
        this.client.ask();
        return this.nativeFor(account, provenFrom);
      },
      conversation,
      cacheKey: () => conversation.key()?.key,
      ...(mayContinue && { mayContinue, keep: this.origin.reserve }),
      onReply: (progress) => metering.follow(progress),
      headers,
      unpriced: this.uses.unpriced,
      unknownFields: this.uses.unknownFields,
    };
  }

  /** Nothing more is asked for a client that has left. */
  private continuing(): RoutableCall['mayContinue'] {
    const { limit = 0 } = this.output;
    let left = this.continuations;
    if (left === 0) return undefined;
    return (used) => {
      if (!this.client.isServed || left === 0 || (used?.outputTokens ?? 0) >= limit) return false;
      left -= 1;
      return true;
    };
  }

  /** What an encoder must know. The native answer that it makes is stored before the end of the answer is sent. */
  replyContext(): ReplyContext<Body> {
    return {
      requestId: this.requestId,
      model: this.checked.model,
      body: this.checked.sentBody,
      createdSeconds: Math.floor(Date.now() / 1000),
      estimatedInputTokens: this.input.shownTokens,
      onAnswer: (answer, json) => this.store(answer, json),
    };
  }

  /** Begins to store a native answer. A store that fails spoils no answer: what it lacks is not found later, and the log says so. */
  store(answer: JsonObject, json?: string): void {
    const { requestId } = this;
    this.saving = this.checked
      .remember?.(answer, json, this.writer)
      .catch((error: unknown) => log.error('response.not_stored', { requestId, error }));
  }

  /** Resolves when what was to be stored is stored or could not be; undefined where nothing was. */
  stored(): Promise<void> | undefined {
    return this.saving;
  }
}

/** A request that may be answered: what it costs is held, or will be before an upstream is asked. */
export type BegunText =
  | { readonly metering: TextMetering; readonly call: RoutableCall; readonly loop?: undefined }
  /** The gateway runs its tools: each of its rounds is held for when it begins. */
  | { readonly metering: Metering; readonly loop: ToolLoop };

/** What passes through is refused by the upstream where it is too low. */
const leastSent = ({ upstream: { provider } }: TextRoute, style: TextStyle): number =>
  provider.protocol === style ? 0 : leastOutputLimit(provider.protocol);

function limited(request: TextRequest, limit: number | undefined): TextRequest {
  if (limit === undefined) return request;
  // Where it takes nothing from the request, in front of it: behind a spread a new field costs as much as all others.
  return 'maxOutputTokens' in request ? { ...request, maxOutputTokens: limit } : { maxOutputTokens: limit, ...request };
}
