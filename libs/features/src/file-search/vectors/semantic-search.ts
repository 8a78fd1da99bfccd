import { Inject, Injectable } from '@nestjs/common';
import { GatewayError, type RankWeights, UNPAID_CODES } from '#contracts';
import { logger } from '#platform';
import { inOrder, type RankedPassage } from '../rank-passages.js';
import type { SearchedIndex } from '../search-scope.js';
import { type EmbeddingOrder, PassageVectors, TEXT_EMBEDDER, type TextEmbedder } from './passage-vectors.js';

const log = logger('file-vectors');

/** Finds passages whose vectors are near that of a query. */
@Injectable()
export class SemanticSearch {
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
    const vector = await this.vectorOf(order);
    if (!vector) return undefined;
    const near = await this.vectors.nearest(order.accountId, [...indexes.keys()], vector, limit);
    return near.flatMap(({ index: id, nth, similarity: score }) => {
      const index = indexes.get(id);
      return index ? [{ index, nth, score }] : [];
    });
  }

  private async vectorOf(order: EmbeddingOrder): Promise<Float32Array | undefined> {
    try {
      return (await this.embedder.embed(order))[0];
    } catch (error) {
      if (!(error instanceof GatewayError) || UNPAID_CODES.includes(error.code)) throw error;
      log.warn('search.words_alone', { requestId: order.requestId, code: error.code });
      return undefined;
    }
  }
}

/** How slowly a place in a list loses its worth: the usual number of reciprocal rank fusion. */
const K = 60;

/**
 * Two orders of passages as one, by reciprocal rank fusion. A score, 0 to 1, is a share of the score of the first place in both
 * lists.
 *
 * @param byMeaning and `byWords` are each in their own order, best first.
 */
export function fuseRanks(
  byWords: readonly RankedPassage[],
  byMeaning: readonly RankedPassage[],
  { words, meaning }: RankWeights,
): readonly RankedPassage[] {
  const fused = new Map<string, RankedPassage>();
  const most = (words + meaning) / (K + 1);
  for (const [list, weight] of [
    [byWords, words],
    [byMeaning, meaning],
  ] as const)
    for (const [place, { index, nth }] of list.entries()) {
      const key = `${index.id}/${nth}`;
      const score = (fused.get(key)?.score ?? 0) + weight / (K + 1 + place) / most;
      if (weight > 0) fused.set(key, { index, nth, score });
    }
  // Sums of fractions may come out a hair above what they are.
  return [...fused.values()].map((passage) => ({ ...passage, score: Math.min(1, passage.score) })).toSorted(inOrder);
}
