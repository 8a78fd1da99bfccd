import type { GatewayError } from '../errors.js';
import type { JsonObject } from '../json.js';
import type { Verified } from '../media-upstream.js';
import type { ModelTraits } from './model-traits.js';
import type { FinishReason, TextEvent, TextUsage } from './text-event.js';
import type { TextRequest } from './text-request.js';
import type { StopSignal, TextProtocol, TextStyle } from './text-style.js';
import type { UnpricedUse } from './upstream-policy.js';

/** One request on its way to an upstream, in both forms: as the caller wrote it and as the gateway understands it. */
export interface TextCall {
  readonly requestId: string;
  readonly style: TextStyle;
  readonly stream: boolean;
  /** The model as the caller named it. */
  readonly model: string;
  /** Its name at the upstream. */
  readonly upstreamModel: string;
  /** The checked request; a request of the upstream's own protocol is never read this far. */
  readonly request: () => TextRequest;
  /** True: the body is rewritten even for an upstream of its own style, because the caller's lacks what the gateway added. */
  readonly isTranslated?: boolean;
  /**
   * The caller's body in its own style, ready to pass through, with those proofs of reasoning that the vendor account made, by its
   * mark, and those that do not say who made them; undefined: with none. The same body where there is nothing to leave out.
   */
  readonly native: (account: string | undefined) => NativeBody;
  /** True: earlier in this conversation the upstream refused reasoning because of what came before it, so that it may drop such at once. */
  readonly letsVendorDrop?: boolean;
  /**
   * Asked where the vendor would go on with a reply that reached the most of one request: whether it is to. Absent: it is not. Nothing that
   * passes through is gone on with: its caller can do so.
   */
  readonly mayContinue?: (used: TextUsage | undefined) => boolean;
  /** Takes memory for what is kept of such a reply. Throws where there is too little: the reply is gone on with no further. */
  readonly keep?: (bytes: number) => void;
  /** Called when an upstream has begun to reply, once for each that is asked. */
  readonly onReply?: (progress: ReplyProgress) => void;
  /** The caller's headers. An upstream is sent no more of them than its protocol and its settings list, and none where the body is rewritten. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Names the conversation to a prompt cache, in a way that tells nothing of it; undefined where nothing tells it from others. */
  readonly cacheKey?: () => string | undefined;
  /** What it asks for beyond tokens. An upstream is sent no tool among it that its policy does not list. */
  readonly unpriced?: readonly UnpricedUse[];
  /** Fields of the native body whose price is unknown; an upstream whose policy does not list one is not sent it. */
  readonly unknownFields?: readonly string[];
}

/** What is known of a reply before it is over; may be asked at any time, also when it broke off. */
export interface ReplyProgress {
  /** The usage that was reported until now; undefined while none was. Its output may be 0, or too small. */
  readonly reportedUsage: () => TextUsage | undefined;
  /** What the upstream has written and no event has delivered yet, for counting; absent where nothing is held back. */
  readonly heldBack?: () => string;
  /** The request to its vendor that goes on with the reply; undefined while it is the first one. */
  readonly lastPart?: () => LastPart | undefined;
  /** True: the models behind it may reason without being asked, and show nothing of it. */
  readonly mayReasonUnasked: boolean;
  /** What the vendor calls the reply, for traces. */
  readonly named?: () => NamedReply;
}

/** What is known of a request that goes on with a reply. */
export interface LastPart {
  /** What it has written, for counting. */
  readonly written: string;
  /** Whether it reported a usage, which is the last of `TextUsage.calls` then. */
  readonly isReported: boolean;
}

/** What a vendor says of its reply beside its words and usage; what it leaves out is undefined. */
export interface NamedReply {
  readonly id: string | undefined;
  readonly model: string | undefined;
  /** Undefined for a reply that did not end. */
  readonly finishReason: FinishReason | undefined;
}

/** The caller's body: the bytes when nothing in them is ours alone, else the rewritten object. */
export type NativeBody =
  | {
      readonly kind: 'bytes';
      readonly bytes: Uint8Array;
      /** Fields that the bytes do not have, to be sent in front of the others: to add them to the bytes would copy these. */
      readonly front?: JsonObject;
      /** The bytes parsed, for code that must leave a part out. */
      readonly parsed: () => JsonObject;
    }
  | { readonly kind: 'rewritten'; readonly body: JsonObject };

/** The end of a reply that passed through unread. */
export interface RelayOutcome {
  /** The usage that was reported until now; absent when none was. */
  readonly usage: TextUsage | undefined;
  /** The text, reasoning and arguments that went out, for counting; empty when `usage` has an output. */
  readonly produced: string;
  /** The failure that the upstream's own bytes end with, so that nothing may be added; undefined when they report none. */
  readonly failure: GatewayError | undefined;
  /** True: all that came is beside a reply, which did not begin: comments, a usage. */
  readonly isEmpty?: boolean;
}

/** Understood: batches of events, one batch for each piece the network gave. */
export interface EventsReply {
  readonly kind: 'events';
  readonly events: AsyncIterable<readonly TextEvent[]>;
}

/** A whole reply in our own words. */
interface WholeReply {
  readonly kind: 'whole';
  readonly events: readonly TextEvent[];
}

/** The upstream's own bytes, whole server-sent events only. Iteration throws GatewayError when the stream breaks. */
export interface RelayedStream {
  readonly kind: 'stream';
  readonly frames: AsyncIterable<Uint8Array>;
  /** The native object of the finished reply, known before the frame that carries it is handed out. */
  readonly answer: () => JsonObject | undefined;
  /** To be asked when the frames are over, or were left. */
  readonly outcome: () => RelayOutcome;
  /** The text, reasoning and arguments that went out until now. */
  readonly words: () => string;
}

/** The upstream's own JSON object. */
interface RelayedBody {
  readonly kind: 'body';
  readonly json: string;
  readonly answer: () => JsonObject;
  readonly outcome: () => RelayOutcome;
  /** Its text, reasoning and arguments. */
  readonly words: () => string;
}

/** An upstream's reply. The first event or frame is already there when it is returned. */
export type TextReply = (EventsReply | WholeReply | RelayedStream | RelayedBody) & {
  /** What the upstream calls the exchange, for support cases. */
  readonly upstreamRequestId?: string;
  /** Headers of the upstream that a caller of its style gets. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The upstream refused proofs of reasoning in the request, and replied to it without them: they were left out, or it was let drop
   * those that it does not take.
   */
  readonly withoutProofs?: 'left_out' | 'let_drop';
};

/** What a proof of address and key found. */
export interface VerifiedText {
  readonly verified: Verified;
  /** The models that the vendor lists, by their names there; undefined where it has no list. */
  readonly listed: readonly string[] | undefined;
  /** The vendor's id of the call, for its support. */
  readonly requestId: string | undefined;
  /** By its list of models, which is free, or by the least reply of a model. */
  readonly by: 'list' | 'reply';
}

/** Something that writes text: a vendor behind HTTP, or the built-in sandbox. */
export interface TextProvider {
  readonly id: string;
  readonly protocol: TextProtocol;
  /** True: it may be asked to go on with a reply that its vendor left unfinished. */
  readonly continues?: boolean;

  /** Proves address and key, also by the least reply of this model where there is no free call. Never throws for what the vendor says. */
  verify?(upstreamModel: string | undefined, signal: AbortSignal): Promise<VerifiedText>;

  /**
   * The vendor's own list of models, as it came.
   *
   * @throws GatewayError `upstream_error`: it has none, or could not be asked.
   */
  readModels?(signal: AbortSignal): Promise<string>;

  /** What holds for a model, by the name it has there; absent: it takes everything. */
  traitsOf?(upstreamModel: string): ModelTraits;

  /** What `call` would throw before it sends anything; undefined: nothing. Absent: it takes everything. */
  refusalOf?(call: TextCall): Promise<GatewayError | undefined>;

  /**
   * Sends one request and waits for the first sign of a reply.
   *
   * @throws GatewayError `unsupported_parameter` when the request says what this protocol cannot; otherwise what went
   * wrong at the upstream, `retryable` when another upstream or a later try may succeed.
   */
  call(call: TextCall, signal: StopSignal): Promise<TextReply>;
}

/** A request for embeddings on its way to an upstream. It passes through: no other interface has its form. */
export interface EmbeddingsCall {
  readonly requestId: string;
  /** The model as the caller named it. */
  readonly model: string;
  /** Its name at the upstream. */
  readonly upstreamModel: string;
  /** The JSON of the body. */
  readonly body: Uint8Array;
}

export interface EmbeddingsReply {
  /** The upstream's own JSON object, under the caller's name of the model; null when it is larger than is read. */
  readonly json: string | null;
  /** The usage that it reported of its input; undefined when it reported nothing credible. */
  readonly usage: TextUsage | undefined;
  readonly upstreamRequestId: string | undefined;
}

/** Something that turns texts into vectors. */
export interface EmbeddingsProvider {
  readonly id: string;

  /**
   * Sends one request and waits for the whole reply.
   *
   * @throws GatewayError what went wrong at the upstream, `retryable` when another upstream or a later try may succeed.
   */
  embed(call: EmbeddingsCall, signal: StopSignal): Promise<EmbeddingsReply>;
}
