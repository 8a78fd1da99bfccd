import { wordsOf } from '../words.js';
import { tooMuch } from './extracted-text.js';

/** The most different words of a file: a list of keys or sums is none that is searched by words. */
const WORDS_MAX = 300_000;

export interface WordCounts {
  /** Of each passage, how many words it has. */
  readonly lengths: readonly number[];
  /** Words that a stemmer takes, and terms that none changes. Each with the passages it is in: number × 256 + times. */
  readonly spaced: ReadonlyMap<string, readonly number[]>;
  readonly unspaced: ReadonlyMap<string, readonly number[]>;
}

/** Counts of a word in one passage above this are treated alike. */
const TIMES_MAX = 255;

/** @throws Unreadable: there are too many different words. */
export function countWords(passages: Iterable<string>): WordCounts {
  const spaced = new Map<string, number[]>();
  const unspaced = new Map<string, number[]>();
  const lengths: number[] = [];
  for (const text of passages) {
    const words = wordsOf(text);
    const nth = lengths.length;
    for (const word of words.spaced) count(spaced, word, nth);
    for (const term of words.unspaced) count(unspaced, term, nth);
    lengths.push(words.spaced.length + words.unspaced.length);
    if (spaced.size + unspaced.size > WORDS_MAX) throw tooMuch(`more than ${WORDS_MAX} different words`);
  }
  return { lengths, spaced, unspaced };
}

function count(all: Map<string, number[]>, word: string, nth: number): void {
  const postings = all.get(word);
  if (!postings) return void all.set(word, [nth * 256 + 1]);
  const last = postings.at(-1) ?? 0;
  if (last >>> 8 !== nth) postings.push(nth * 256 + 1);
  else if ((last & TIMES_MAX) < TIMES_MAX) postings[postings.length - 1] = last + 1;
}
