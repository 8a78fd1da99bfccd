import { nextTurn, Turns } from '#platform';
import { lengthCount, postingCount, visitPostings } from './postings.js';
import type { SearchedIndex } from './search-scope.js';

/** How fast a term's worth levels off with its frequency, and how much the length of a passage matters (BM25). */
const K1 = 1.2;
const B = 0.75;

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
  readonly index: SearchedIndex;
  readonly postings: Buffer;
}

/**
 * The best passages by BM25 over what is searched. A score is a share of the highest possible score of the query, so that scores of different queries can be compared; words that stand nowhere count in it too.
 *
 * @param words how many the query has.
 */
export async function rankPassages(
  searched: readonly SearchedIndex[],
  words: number,
  matches: readonly Match[],
  limit: number,
): Promise<readonly RankedPassage[]> {
  const passages = searched.reduce((sum, { lengths }) => sum + lengthCount(lengths), 0);
  const averageLength = searched.reduce((sum, { terms }) => sum + terms, 0) / passages;
  const weights = wordWeights(words, matches, passages);
  const most = weights.reduce((sum, weight) => sum + weight, 0) * (K1 + 1);
  const scores = new Map<SearchedIndex, Float64Array>();
  const turns = new Turns();
  for (const { word, index, postings } of matches) {
    const weight = (weights[word] ?? 0) / most;
    const ofIndex = scores.get(index) ?? new Float64Array(lengthCount(index.lengths));
    scores.set(index, ofIndex);
    visitPostings(postings, (nth, count) => {
      const length = index.lengths.readUInt16LE(nth * 2);
      const share = (count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / averageLength));
      ofIndex[nth] = (ofIndex[nth] ?? 0) + weight * share;
    });
    if (turns.isOver) await nextTurn(turns);
  }
  return best(scores, limit);
}

/** Rare words weigh more. */
function wordWeights(words: number, matches: readonly Match[], passages: number): number[] {
  const found = Array.from({ length: words }, () => 0);
  for (const { word, postings } of matches) found[word] = (found[word] ?? 0) + postingCount(postings);
  return found.map((count) => Math.log(1 + (passages - count + 0.5) / (count + 0.5)));
}

function best(scores: ReadonlyMap<SearchedIndex, Float64Array>, limit: number): RankedPassage[] {
  let least = 0;
  let ranked: RankedPassage[] = [];
  for (const [index, ofIndex] of scores) {
    for (const [nth, score] of ofIndex.entries()) if (score > least) ranked.push({ index, nth, score });
    if (ranked.length <= limit * 2) continue;
    ranked = inOrder(ranked).slice(0, limit);
    least = ranked.at(-1)?.score ?? 0;
  }
  return inOrder(ranked).slice(0, limit);
}

/** Equal ones in the order of their files and places, so that an answer can be repeated. */
const inOrder = (ranked: RankedPassage[]): RankedPassage[] =>
  ranked.sort(
    (left, right) => right.score - left.score || Number(left.index.id) - Number(right.index.id) || left.nth - right.nth,
  );
