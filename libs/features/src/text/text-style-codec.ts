import type {
  CollectedReply,
  GatewayError,
  JsonObject,
  NativeBody,
  TextEvent,
  TextRequest,
  TextStyle,
} from '#contracts';

/** What an encoder must know about the request it answers. */
export interface ReplyContext<Body> {
  readonly requestId: string;
  /** The model under its public name. */
  readonly model: string;
  /** The checked request, for styles that echo it. */
  readonly body: Body;
  /** Unix seconds at which the request came in. */
  readonly createdSeconds: number;
  /** Shown until the upstream reports the real number. */
  readonly estimatedInputTokens: number;
  /** Called with the native answer of a style that can be referred to later, also as JSON where it is at hand, before its end is written. */
  readonly onAnswer: (answer: JsonObject, json?: string) => void;
}

/** Writes one streamed reply. Every returned text is a whole number of events, ready to be written at once. */
export interface TextStreamEncoder {
  readonly contentType: string;
  write(event: TextEvent): string;
  /** Whole events of an upstream of the same style, as they are in the body of this answer. */
  relay(events: Uint8Array): string | Uint8Array;
  /** What ends the stream after `finish`; often nothing. */
  end(): string;
  /** What keeps proxies and clients waiting while the upstream is silent. */
  heartbeat(): string;
  /** The failure in the style's own form, then the end. The pieces are written apart, some clients need the gap. */
  fail(error: GatewayError): readonly string[];
}

/** One inbound style: reads its requests, writes its replies. */
export interface TextStyleCodec<Body> {
  readonly style: TextStyle;
  /** @throws GatewayError `unsupported_parameter` for what no other protocol can say. */
  read(body: Body, model: string, stream: boolean): TextRequest;
  /**
   * The body for an upstream of the same style; `bytes` as they are unless something in them is the gateway's own.
   *
   * @param bytes undefined when `body` is no longer what the caller sent, so that it must be written again.
   * @param limit the most output the hold covers, to be added; undefined when the caller set a limit.
   */
  native(body: Body, bytes: Uint8Array | undefined, limit: number | undefined): NativeBody;
  /** The most tokens a reply may have, by the one field that the style obeys; undefined when the caller set no limit. */
  outputLimit(body: Body): number | undefined;
  /** How many replies a request asks for at once, each as long as the limit allows; one where it is left out. */
  replies?(body: Body): number;
  /** The tokens to think with that the caller names, which a limit must leave room for. */
  thinkingBudget(body: Body): number | undefined;
  /** Those that the vendors whose field it is count beside the limit, so that the hold must cover them too; else 0. */
  thinkingBesideLimit?(body: Body): number;
  /** A whole reply as JSON, with the envelope around it. */
  answer(reply: CollectedReply, context: ReplyContext<Body>): string;
  /**
   * The envelope around an upstream's own JSON.
   *
   * @param sent what the caller sent, for styles that say it back where the upstream cannot know it.
   */
  wrap(json: string, answer: JsonObject, sent?: Body): string;
  stream(context: ReplyContext<Body>): TextStreamEncoder;
}
