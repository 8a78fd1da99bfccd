/** Where a passage stands in the text of its file, in characters (UTF-16). */
export interface PassagePlace {
  readonly start: number;
  readonly end: number;
}

/** How passages are cut, in tokens as `roughTokens` counts them. */
export interface PassageSizes {
  readonly chunkTokens: number;
  readonly overlapTokens: number;
}

/** Characters from here on are counted as a token each: scripts without spaces, and what else is rare. */
const WIDE_FROM = 0x2e80;
/** Characters of a token of other scripts, about. */
const CHARACTERS_PER_TOKEN = 4;

/** The part of a passage, at its end, in which a better place to end is looked for. */
const END_SHARE = 0.3;

/** Where a passage ends best, the best ones first. */
const ENDS = [/\n\s*\n/g, /[.!?。！？…]["'”’)]*\s|[。！？]|\n/g, /\s/g];

const tokensAt = (text: string, index: number): number =>
  text.charCodeAt(index) >= WIDE_FROM ? 1 : 1 / CHARACTERS_PER_TOKEN;

/**
 * Cuts a text into passages that overlap. Together they hold all of it; each ends at a paragraph, a sentence or a word
 * where there is one in its last third.
 */
export function cutPassages(text: string, { chunkTokens, overlapTokens }: PassageSizes): PassagePlace[] {
  const places: PassagePlace[] = [];
  let start = 0;
  while (start < text.length) {
    const furthest = walked(text, start, chunkTokens);
    const end = furthest === text.length ? furthest : goodEnd(text, start, furthest);
    places.push({ start, end });
    if (end === text.length) break;
    start = nextStart(text, start, end, overlapTokens);
  }
  return places;
}

/** The place so many tokens further, never within a character. */
function walked(text: string, start: number, tokens: number): number {
  let index = start;
  for (let counted = 0; index < text.length; index += 1) {
    counted += tokensAt(text, index);
    if (counted > tokens) break;
  }
  return whole(text, index);
}

function goodEnd(text: string, start: number, furthest: number): number {
  const from = furthest - Math.floor((furthest - start) * END_SHARE);
  const tail = text.slice(from, furthest);
  for (const form of ENDS) {
    const last = [...tail.matchAll(form)].at(-1);
    if (last) return from + last.index + last[0].length;
  }
  return furthest;
}

/** Goes back by the overlap, to the beginning of a word. Always behind `start`. */
function nextStart(text: string, start: number, end: number, overlapTokens: number): number {
  let index = end;
  for (let counted = 0; index > start + 1; index -= 1) {
    counted += tokensAt(text, index - 1);
    if (counted > overlapTokens) break;
  }
  const word = text.slice(index, end).search(/(?<=\s)\S/);
  const next = word < 0 || index === end ? index : index + word;
  return Math.max(whole(text, next), start + 1);
}

/** Not between the halves of a surrogate pair. */
const whole = (text: string, index: number): number => {
  const unit = text.charCodeAt(index);
  return unit >= 0xdc00 && unit <= 0xdfff ? index + 1 : index;
};
