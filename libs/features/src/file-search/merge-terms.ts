import type { WordCounts } from './extract/count-words.js';

/** A term and where it stands, packed as `file_term.postings` has it. */
export interface TermPostings {
  readonly term: string;
  readonly postings: Buffer;
}

const TIMES_MAX = 255;

/**
 * Joins the words that stand for one term.
 *
 * @param terms of the words with spaces; null: a stop word.
 */
export function mergeTerms(words: WordCounts, terms: ReadonlyMap<string, string | null>): TermPostings[] {
  const merged = new Map<string, readonly number[]>(words.unspaced);
  for (const [word, postings] of words.spaced) {
    const term = terms.get(word);
    if (!term) continue;
    const known = merged.get(term);
    merged.set(term, known ? joined(known, postings) : postings);
  }
  return [...merged].map(([term, postings]) => ({ term, postings: packed(postings) }));
}

function joined(left: readonly number[], right: readonly number[]): number[] {
  const times = new Map<number, number>();
  for (const posting of [...left, ...right]) {
    const nth = posting >>> 8;
    times.set(nth, Math.min(TIMES_MAX, (times.get(nth) ?? 0) + (posting & TIMES_MAX)));
  }
  return [...times].sort(([a], [b]) => a - b).map(([nth, count]) => nth * 256 + count);
}

function packed(postings: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(postings.length * 4);
  for (const [index, posting] of postings.entries()) bytes.writeUInt32LE(posting, index * 4);
  return bytes;
}
