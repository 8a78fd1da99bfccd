import type { JsonObject, LackingTools, NativeBody, TextEvent, TextProtocol, TextRequest, TextUsage } from '#contracts';
import type { EventData } from './server-sent-events.js';

/** What an upstream's configuration says about how to speak to it. */
export interface ProtocolOptions {
  /** Newer vendors of the chat protocol call the output limit `max_completion_tokens`. */
  readonly outputLimitField?: 'max_tokens' | 'max_completion_tokens';
  /**
   * How to handle tools that the caller only offers and the upstream lacks. Unless it is set they are left out of what
   * is translated, and refused where the request passes through.
   */
  readonly lackingTools?: LackingTools | undefined;
  /** When a chat upstream is sent the reasoning of earlier turns; `with_calls` unless it is set. */
  readonly replayedReasoning?: 'with_calls' | 'always' | 'never';
  /** Whether a messages upstream gets marks of what to keep in its prompt cache; true unless it is set. */
  readonly marksPromptCache?: boolean;
  /**
   * Whether it is passed on to a vendor that a caller wants no reasoning. Unless it is set, to a gemini upstream it is, to a responses upstream
   * where the caller itself used the word, and a chat upstream is not.
   */
  readonly tellsNoReasoning?: boolean | undefined;
  /** How a messages upstream is asked to think; by what is known of its model's name unless it is set. */
  readonly thinking?: 'budget' | 'effort' | undefined;
  /** Whether temperature and its like are sent; by what is known of the model's name unless it is set. */
  readonly takesSampling?: boolean | undefined;
  /** Where system messages in the middle of a conversation go for a chat upstream; they stay there, unless it is set. */
  readonly systemMessages?: 'in_place' | 'in_front';
}

/** Reads one streamed reply. */
export interface StreamDecoder {
  /** @throws GatewayError when the upstream reports a failure in the stream, or sends what is no event of its protocol. */
  push(data: EventData): readonly TextEvent[];
  /**
   * The stream is over: what was held back, and `finish`.
   *
   * @throws GatewayError `upstream_error` when it ended too early.
   */
  end(): readonly TextEvent[];
  /** The usage reported until now: the last word of its input, never less output than was reported before; undefined while none was. */
  reportedUsage(): TextUsage | undefined;
  /** What the upstream has written and no event has delivered yet, for counting; absent where nothing is held back. */
  heldBack?(): string;
}

/**
 * What one event of a stream adds to the text that is counted where the upstream reports no usage: the words, thoughts and
 * arguments of every reply in it and of every kind of call, also of those that our own events do not know.
 */
export type ReadProduced = (event: JsonObject) => string;

/** Which events of a stream say how it ended, found by text so that the others need no parsing. All of it is ASCII. */
export interface RelayMarks {
  /** Events that hold this are decoded when they come. */
  readonly decode: RegExp;
  /** Of the events that hold this, only the first and the last are decoded, when the stream is over. */
  readonly latest?: string;
}

/** One upstream protocol: how to ask, and how to understand the reply. */
export interface ProtocolCodec {
  readonly protocol: Exclude<TextProtocol, 'sandbox'>;
  /** Path below the upstream's base URL. */
  path(model: string, stream: boolean): string;
  /** Headers that carry the upstream's key and version. */
  headers(key: string | undefined): Record<string, string>;
  /** @throws GatewayError `unsupported_parameter` for what the protocol cannot say. */
  write(request: TextRequest, upstreamModel: string, options: ProtocolOptions): JsonObject;
  /** A body of this protocol's own style as one vendor of many wants it; as it is where all of them want the same. */
  native?(body: NativeBody, options: ProtocolOptions, upstreamModel: string): NativeBody;
  /** Reads a whole reply as the events it would have been. */
  read(answer: JsonObject): readonly TextEvent[];
  decoder(): StreamDecoder;
  /** Reads one stream that passes through, of which nothing may go uncounted. */
  producedReader(): ReadProduced;
  readonly marks: RelayMarks;
  /** True: its models may reason without being asked, and show nothing of it. */
  readonly mayReasonUnasked: boolean;
}
