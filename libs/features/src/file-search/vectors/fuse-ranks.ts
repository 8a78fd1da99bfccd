import type { RankWeights } from '#contracts';
import type { RankedPassage } from '../rank-passages.js';

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
  return [...fused.values()]
    .map((passage) => ({ ...passage, score: Math.min(1, passage.score) }))
    .toSorted(
      (left, right) =>
        right.score - left.score || Number(left.index.id) - Number(right.index.id) || left.nth - right.nth,
    );
}
