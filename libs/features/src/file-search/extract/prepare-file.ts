import { boundArrays, exceededMemory } from './bounded-arrays.js';
import { countWords, type WordCounts } from './count-words.js';
import { cutPassages, type PassageSizes } from './cut-passages.js';
import { readText } from './read-text.js';
import { type IndexErrorCode, NO_MEMORY, tooHard, Unreadable } from './unreadable.js';

/** A file as a thread takes it. */
export interface FileToPrepare {
  readonly bytes: Uint8Array;
  readonly filename: string;
  readonly sizes: PassageSizes;
  /** The most bytes of arrays that the thread may hold at once, beside its heap. */
  readonly arrayBytes: number;
}

/** A passage that is ready to be written. */
export interface PreparedPassage {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** From 1; null where files of its type have no pages. */
  readonly page: number | null;
}

/** The text of a file, or why it has none. */
export type Prepared =
  | { readonly kind: 'passages'; readonly passages: readonly PreparedPassage[]; readonly words: WordCounts }
  | {
      readonly kind: 'unreadable';
      readonly code: IndexErrorCode;
      readonly message: string;
      /** Whether it was ended by the bounds of its thread: with others it might be read. */
      readonly byBounds: boolean;
    };

/** Answers once the thread has started, which is no file's fault. */
export const ready = (): void => undefined;

/** All that is done with the content of a file; runs in a thread of its own. */
export default async function prepareFile({ bytes, filename, sizes, arrayBytes }: FileToPrepare): Promise<Prepared> {
  boundArrays(arrayBytes);
  try {
    const { text, pageStarts } = await readText(bytes, filename);
    if (exceededMemory()) throw tooHard(NO_MEMORY);
    const passages = cutPassages(text, sizes).map(({ start, end }) => ({
      text: text.slice(start, end),
      start,
      end,
      page: pageStarts ? pageAt(pageStarts, start) : null,
    }));
    return { kind: 'passages', passages, words: countWords(passages.map((passage) => passage.text)) };
  } catch (caught) {
    const byBounds = exceededMemory();
    const error = byBounds ? tooHard(NO_MEMORY) : caught;
    if (!(error instanceof Unreadable)) throw error;
    return { kind: 'unreadable', code: error.code, message: error.message, byBounds };
  }
}

/** The last page that begins at or before the place. */
function pageAt(pageStarts: readonly number[], place: number): number {
  let [low, high] = [0, pageStarts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pageStarts[middle] ?? 0) <= place) low = middle + 1;
    else high = middle;
  }
  return Math.max(1, low);
}
