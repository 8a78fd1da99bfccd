/** Injects the TextEmbedder. */
export const TEXT_EMBEDDER = Symbol('TextEmbedder');

/** Texts to embed, and the payer. */
export interface EmbeddingOrder {
  /** Names the bill. */
  readonly requestId: string;
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly texts: readonly string[];
}

/** Makes vectors of texts, near each other where the texts mean the same. */
export interface TextEmbedder {
  /** The model that makes them; undefined while none is set, or no upstream offers it. */
  readonly model: string | undefined;
  /**
   * A vector for each text, all as long as each other, each of length 1.
   *
   * @throws GatewayError as `EmbeddingsService.embed`, and `upstream_error` for an answer that holds no such vectors.
   */
  embed(order: EmbeddingOrder): Promise<readonly Float32Array[]>;
}
