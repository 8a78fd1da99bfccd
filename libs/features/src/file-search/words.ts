/** Scripts that put no space between words, of which every two neighbouring characters make a term. */
const UNSPACED = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((script) => String.raw`\p{Script=${script}}`)
  .join('');

const WORD = new RegExp(String.raw`[${UNSPACED}\u30FC]+|[[\p{L}\p{M}\p{N}]--[${UNSPACED}\u30FC]]+`, 'gv');
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, 'v');
const HUMP = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})/u;
const MARKS = /\p{M}+/gu;

/** Longer ones are no words: keys, sums, inline files. In UTF-16 units. */
const WORD_MAX = 64;

/** What a text is found by, in the order in which it stands there. */
interface Words {
  /** Words of scripts with spaces, in lower case, as stemmers take them. `parseFile` is there whole and in its parts. */
  readonly spaced: readonly string[];
  /** Terms of the other scripts, which no stemmer changes: `全文检索` is 全文, 文检, 检索. */
  readonly unspaced: readonly string[];
}

/** Splits a text into words, the same way for files and for queries. Widths and ligatures are made equal (NFKC). */
export function wordsOf(text: string): Words {
  const spaced: string[] = [];
  const unspaced: string[] = [];
  for (const [word] of text.normalize('NFKC').matchAll(WORD)) {
    if (IS_UNSPACED.test(word)) unspaced.push(...pairsOf(word));
    else if (word.length <= WORD_MAX) spaced.push(...spellingsOf(word));
  }
  return { spaced, unspaced };
}

function spellingsOf(word: string): string[] {
  const parts = word.split(HUMP);
  return (parts.length > 1 ? [word, ...parts] : [word]).map((part) => part.toLowerCase());
}

/** A single character is a term of its own, so that a query of one finds at least its kind. */
function pairsOf(run: string): string[] {
  const characters = Array.from(run);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** Without accents, so that `café` and `cafe` are one term. */
export const folded = (word: string): string => word.normalize('NFD').replace(MARKS, '').normalize('NFC');

/** The bytes of one passage in packed postings: its number in three bytes, and how often the term stands in it. */
export const POSTING_BYTES = 4;

/** The bytes of one passage in packed lengths. */
export const LENGTH_BYTES = 2;

/** Calls `visit` for each passage of packed postings, as `file_term.postings` has them, from one byte to another. */
export function visitPostings(
  bytes: Buffer,
  from: number,
  to: number,
  visit: (nth: number, count: number) => void,
): void {
  for (let at = from; at < Math.min(to, bytes.length); at += POSTING_BYTES) {
    const packed = bytes.readUInt32LE(at);
    visit(packed >>> 8, packed & 0xff);
  }
}

/** Writes how many terms each passage has, two bytes each. */
export function packLengths(lengths: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(lengths.length * LENGTH_BYTES);
  for (const [index, length] of lengths.entries()) bytes.writeUInt16LE(Math.min(length, 0xffff), index * LENGTH_BYTES);
  return bytes;
}
