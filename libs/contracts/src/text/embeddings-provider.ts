import type { StopSignal } from './stop-signal.js';
import type { TextUsage } from './text-event.js';

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

/** An upstream's embeddings. */
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
