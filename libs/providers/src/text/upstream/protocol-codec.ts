import type {
  LastPart,
  JsonObject,
  LackingTools,
  NativeBody,
  TextCall,
  TextEvent,
  TextProtocol,
  TextRequest,
  TextUsage,
} from '#contracts';
import type { TraitLookup } from '../traits/model-traits.js';
import type { EventData } from './server-sent-events.js';

/** What an upstream's configuration says about how to speak to it. */
export interface ProtocolOptions {
  /** What holds for its models; what the table says of their names unless it is set. */
  readonly traits?: TraitLookup;
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
   * where the caller itself used the word, a messages upstream where its model thinks unasked, and a chat upstream is not.
   */
  readonly disablesReasoning?: boolean | undefined;
}

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
  /**
   * The body with which the vendor goes on with a reply that is over and not finished; undefined for a finished one, for one whose usage it
   * did not report, and for one that it cannot go on with.
   *
   * @param body of the first request.
   */
  continuation?(body: JsonObject): JsonObject | undefined;
  /** What is read next goes on with the reply. */
  nextPart?(): void;
  /** What is known of the request that goes on; undefined before that. */
  lastPart?(): LastPart | undefined;
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
  /**
   * Of the events that hold these, only the first and the last for each are decoded, when the stream is over. What holds one holds those
   * behind it as well.
   */
  readonly latest?: readonly RegExp[];
  /** A reply begins with the first event that holds this; with any event where it is left out. */
  readonly begins?: RegExp;
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
  /** Reads the chunks of a stream that came as one list, in the protocol that has such a form. */
  readChunks?(chunks: readonly JsonObject[]): readonly TextEvent[];
  /** @param keep of a reply that may be gone on with: takes memory for what is kept of it, and throws where there is too little. */
  decoder(keep?: TextCall['keep']): StreamDecoder;
  /** True: its vendor may leave a reply unfinished, and go on with it; what decoders have `continuation` for. */
  readonly continues?: boolean;
  /** Reads one stream that passes through, of which nothing may go uncounted. */
  producedReader(): ReadProduced;
  readonly marks: RelayMarks;
}
