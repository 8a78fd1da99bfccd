import type { GatewayError } from '../errors.js';
import type { JsonObject } from '../json.js';
import type { StopSignal } from './stop-signal.js';
import type { TextEvent, TextUsage } from './text-event.js';
import type { TextRequest } from './text-request.js';
import type { TextProtocol, TextStyle } from './text-style.js';
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
  /** Called when an upstream has begun to reply, once for each that is asked. */
  readonly onReply?: (progress: ReplyProgress) => void;
  /** Headers of the caller that mean something to an upstream of the same protocol, for example `anthropic-beta`. */
  readonly headers: Readonly<Record<string, string>>;
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
  /** True: the models behind it may reason without being asked, and show nothing of it. */
  readonly mayReasonUnasked: boolean;
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
}

/** Understood: batches of events, one batch for each piece the network gave. */
export interface EventsReply {
  readonly kind: 'events';
  readonly events: AsyncIterable<readonly TextEvent[]>;
}

/** A whole reply in our own words. */
export interface WholeReply {
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
}

/** The upstream's own JSON object. */
export interface RelayedBody {
  readonly kind: 'body';
  readonly json: string;
  readonly answer: () => JsonObject;
  readonly outcome: () => RelayOutcome;
}

/** An upstream's reply. The first event or frame is already there when it is returned. */
export type TextReply = (EventsReply | WholeReply | RelayedStream | RelayedBody) & {
  /** What the upstream calls the exchange, for support cases. */
  readonly upstreamRequestId?: string;
};

/** Something that writes text: a vendor behind HTTP, or the built-in sandbox. */
export interface TextProvider {
  readonly id: string;
  readonly protocol: TextProtocol;

  /**
   * Sends one request and waits for the first sign of a reply.
   *
   * @throws GatewayError `unsupported_parameter` when the request says what this protocol cannot; otherwise what went
   * wrong at the upstream, `retryable` when another upstream or a later try may succeed.
   */
  call(call: TextCall, signal: StopSignal): Promise<TextReply>;
}
