import {
  GatewayError,
  type JsonObject,
  type NativeBody,
  type RequestUses,
  type TextRequest,
  type TextStyle,
} from '#contracts';
import { logger } from '#platform';
import { DEFAULT_MODEL_LIMITS, leastOutputLimit, type ModelLimits } from '#providers';
import type { ReserveMemory } from '../limits/reserve-memory.js';
import type { ClientConnection } from './client-connection.js';
import type { InputEstimate } from './estimate-tokens.js';
import { withoutForeignReasoning } from './gateway-signatures.js';
import type { ToolPlan } from './hosted-tools/requested-tools.js';
import type { ToolLoop } from './hosted-tools/tool-loop.js';
import type { TextHold, TextHoldOrder } from './text-billing.js';
import { type HeldTokens, isOpenEnded, type Metering, replyBounds, type TextMetering } from './text-metering.js';
import type { RoutableCall } from './text-router.js';
import type { ReplyContext, TextStyleCodec } from './text-style-codec.js';
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
  /** Headers for an upstream of the same style. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the answer is streamed. */
  readonly stream: boolean;
  /** Stores the finished native answer of a style that can be referred to, given as JSON too where that is at hand; the end of the answer waits for it. */
  readonly remember?: (answer: JsonObject, json?: string) => Promise<void>;
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
    /** Empty: every model is allowed. */
    readonly allowedModels: readonly string[];
    /** What the key is limited to (`KEY_SCOPES`); empty: everything. */
    readonly scopes: readonly string[];
  };
  readonly client: ClientConnection;
  /** Memory for what the request makes the gateway read. */
  readonly reserve: ReserveMemory;
  /** Called before the answer begins with the offered tools that were not sent to the upstream. */
  readonly onToolsLeftOut?: (names: readonly string[]) => void;
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
  /** The limit that an upstream is given of what is held, where the caller named none. */
  #addedLimit: number | undefined;
  #translated: TextRequest | undefined;
  #native: NativeBody | undefined;
  #cleaned: { readonly account: string | undefined; readonly body: NativeBody } | undefined;
  #saving: Promise<void> | undefined;

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

  /** What is held where it is one call of its model. */
  holdOrder(): TextHoldOrder {
    const { requestId, idempotencyKey, caller } = this.origin;
    const { replies, beside, most, least } = this.output;
    return {
      requestId,
      idempotencyKey,
      accountId: caller.accountId,
      apiKeyId: caller.apiKeyId,
      model: this.checked.model,
      inputTokens: this.input.heldTokens,
      mostInputTokens: this.input.mostTokens,
      outputTokens: replies * (beside + most),
      leastOutputTokens: replies * (beside + least),
    };
  }

  /** Takes note of what is held: what the caller did not limit is limited to it. Answers the most that may be charged, whatever the upstream reports. */
  coveredBy({ outputTokens }: TextHold): HeldTokens {
    const { limit, replies, beside } = this.output;
    if (limit === undefined) this.#addedLimit = Math.floor(outputTokens / replies) - beside;
    const { heldTokens: inputTokens, hasFiles } = this.input;
    const bounds = replyBounds({ inputTokens, replies, limits: this.limits, isOpenEnded: isOpenEnded(this.uses) });
    return { inputTokens, outputTokens, hasFiles, bounds };
  }

  /**
   * The request in the gateway's own words, for an upstream of another protocol and for counting; made when first asked for.
   *
   * @throws GatewayError `unsupported_parameter` for what no other protocol can say.
   */
  translated(): TextRequest {
    const { codec, body, model, stream } = this.checked;
    return (this.#translated ??= limited(codec.read(body, model, stream), this.#addedLimit));
  }

  /** The body for an upstream of the same style, with those proofs of reasoning that the vendor account made; made when first asked for. */
  nativeFor(account: string | undefined): NativeBody {
    const { codec, body, bytes } = this.checked;
    if (this.#cleaned && this.#cleaned.account === account) return this.#cleaned.body;
    this.#native ??= codec.native(body, bytes, this.#addedLimit);
    this.#cleaned = { account, body: withoutForeignReasoning(codec.style, this.#native, account) };
    return this.#cleaned.body;
  }

  /**
   * The request as the router asks upstreams for it. One whose client has left asks none: nothing would be charged for it.
   *
   * @param metering is told how the replies get on.
   */
  callFor(metering: TextMetering): RoutableCall {
    const { codec, model, stream, headers } = this.checked;
    return {
      requestId: this.requestId,
      accountId: this.origin.caller.accountId,
      style: codec.style,
      stream,
      model,
      request: () => {
        this.client.expectPresent();
        return this.translated();
      },
      native: (account) => {
        this.client.expectPresent();
        return this.nativeFor(account);
      },
      onReply: (progress) => metering.follow(progress),
      headers,
      unpriced: this.uses.unpriced,
      unknownFields: this.uses.unknownFields,
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
    this.#saving = this.checked
      .remember?.(answer, json)
      .catch((error: unknown) => log.error('response.not_stored', { requestId, error }));
  }

  /** Resolves when what was to be stored is stored or could not be; undefined where nothing was. */
  stored(): Promise<void> | undefined {
    return this.#saving;
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
