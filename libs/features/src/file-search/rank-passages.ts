import { nextTurn, Turns } from '#platform';
import { LENGTH_BYTES, POSTING_BYTES, visitPostings } from './words.js';
import type { SearchedIndex } from './search-scope.js';

/** How fast a term's worth levels off with its frequency, and how much the length of a passage matters (BM25). */
const K1 = 1.2;
const B = 0.75;

/** Passages that are looked at between two looks at the clock. */
const AT_ONCE = 4_096;

/** A passage in the order of its score. */
export interface RankedPassage {
  readonly index: SearchedIndex;
  readonly nth: number;
  /** 0 to 1. */
  readonly score: number;
}

/** A word of the query in one index: which word, and where its term stands. */
export interface Match {
  readonly word: number;
  readonly postings: Buffer;
}

/**
 * Ranks passages by BM25 over what is searched, index after index, and keeps the best. A score is a share of the highest
 * possible score of the query, so that scores of different queries can be compared; words that stand nowhere count in it
 * too. Other work has its turn every few milliseconds.
 */
export class PassageRanking {
  private readonly turns = new Turns();
  private readonly ranked: RankedPassage[] = [];
  private readonly averageLength: number;
  private readonly weights: readonly number[];
  private readonly most: number;

  /**
   * @param found in how many passages each word of the query stands.
   * @param limit the most passages that are kept.
   */
  constructor(
    searched: readonly SearchedIndex[],
    found: readonly number[],
    private readonly limit: number,
  ) {
    const passages = searched.reduce((sum, index) => sum + index.passages, 0);
    this.averageLength = searched.reduce((sum, { terms }) => sum + terms, 0) / passages;
    // Rare words weigh more.
    this.weights = found.map((count) => Math.log(1 + (passages - count + 0.5) / (count + 0.5)));
    this.most = this.weights.reduce((sum, weight) => sum + weight, 0) * (K1 + 1);
  }

  /** Best first; equal ones in the order of their files and places, so that an answer can be repeated. */
  get best(): readonly RankedPassage[] {
    return this.ranked;
  }

  /** Adds to the scores of the passages of an index what these words are worth in them. */
  async score(scores: Float64Array, lengths: Buffer, { word, postings }: Match): Promise<void> {
    const weight = (this.weights[word] ?? 0) / this.most;
    const add = (nth: number, count: number): void => {
      const length = lengths.readUInt16LE(nth * LENGTH_BYTES);
      const share = (count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / this.averageLength));
      scores[nth] = (scores[nth] ?? 0) + weight * share;
    };
    const step = AT_ONCE * POSTING_BYTES;
    for (let from = 0; from < postings.length; from += step) {
      visitPostings(postings, from, from + step, add);
      if (this.turns.isOver) await nextTurn(this.turns);
    }
  }

  /** Keeps the best of an index whose scores are complete. */
  async keep(index: SearchedIndex, scores: Float64Array): Promise<void> {
    for (let from = 0; from < scores.length; from += AT_ONCE) {
      for (let nth = from; nth < Math.min(from + AT_ONCE, scores.length); nth += 1) {
        const score = scores[nth] ?? 0;
        const isCandidate = this.ranked.length < this.limit || score >= (this.ranked.at(-1)?.score ?? 0);
        if (score > 0 && isCandidate) this.insert({ index, nth, score });
      }
      if (this.turns.isOver) await nextTurn(this.turns);
    }
  }

  private insert(passage: RankedPassage): void {
    let [low, high] = [0, this.ranked.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.ranked[middle];
      if (other && inOrder(other, passage) < 0) low = middle + 1;
      else high = middle;
    }
    this.ranked.splice(low, 0, passage);
    if (this.ranked.length > this.limit) this.ranked.pop();
  }
}

/** The best first; of equal ones always the same. */
export const inOrder = (left: RankedPassage, right: RankedPassage): number =>
  right.score - left.score || Number(left.index.id) - Number(right.index.id) || left.nth - right.nth;
