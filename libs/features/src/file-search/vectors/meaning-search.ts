import { Inject, Injectable } from '@nestjs/common';
import { GatewayError, UNPAID_CODES } from '#contracts';
import { logger } from '#platform';
import type { RankedPassage } from '../rank-passages.js';
import type { SearchedIndex } from '../search-scope.js';
import { PassageVectors } from './passage-vectors.js';
import { type EmbeddingOrder, TEXT_EMBEDDER, type TextEmbedder } from './text-embedder.js';

const log = logger('file-vectors');

/** Finds passages whose vectors are near that of a query. */
@Injectable()
export class MeaningSearch {
  constructor(
    private readonly vectors: PassageVectors,
    @Inject(TEXT_EMBEDDER) private readonly embedder: TextEmbedder,
  ) {}

  /** Whether any of these has vectors that a query can be compared with. */
  canSearch(searched: readonly SearchedIndex[]): boolean {
    const { model } = this.embedder;
    return model !== undefined && searched.some(({ embeddingModel }) => embeddingModel === model);
  }

  /**
   * The nearest passages, nearest first; undefined when no upstream made a vector of the query, so that words are all
   * there is.
   *
   * @throws GatewayError one of `UNPAID_CODES`.
   */
  async search(
    order: EmbeddingOrder,
    searched: readonly SearchedIndex[],
    limit: number,
  ): Promise<readonly RankedPassage[] | undefined> {
    const { model } = this.embedder;
    const indexes = new Map(
      searched.flatMap((index) => (index.embeddingModel === model ? [[index.id, index] as const] : [])),
    );
    const vector = await this.#vectorOf(order);
    if (!vector) return undefined;
    const near = await this.vectors.nearest(order.accountId, [...indexes.keys()], vector, limit);
    return near.flatMap(({ index: id, nth, similarity: score }) => {
      const index = indexes.get(id);
      return index ? [{ index, nth, score }] : [];
    });
  }

  async #vectorOf(order: EmbeddingOrder): Promise<Float32Array | undefined> {
    try {
      return (await this.embedder.embed(order))[0];
    } catch (error) {
      if (!(error instanceof GatewayError) || UNPAID_CODES.includes(error.code)) throw error;
      log.warn('search.words_alone', { requestId: order.requestId, code: error.code });
      return undefined;
    }
  }
}
