/** The most different keys of a request: ten times what the longest list of tools has. */
export const DIFFERENT_KEYS_MAX = 10_000;

/**
 * True when a JSON text, together with those before it, has more different keys than a request may have. The parser keeps each
 * new key in a table of the whole process. Enlarging that table stops all work: at two million keys for 60 ms.
 *
 * @param json need not be valid.
 * @param known keys so far, as they are written. Those of the text are added to it.
 */
export function hasManyDifferentKeys(json: string, known = new Set<string>()): boolean {
  for (let index = json.indexOf('"'); index !== -1; index = json.indexOf('"', index + 1)) {
    const end = endOfString(json, index + 1);
    if (isBeforeColon(json, end + 1)) known.add(json.slice(index + 1, end));
    if (known.size > DIFFERENT_KEYS_MAX) return true;
    index = end;
  }
  return false;
}

/** Where the quote stands that ends a string; the end of the text where there is none. */
export function endOfString(text: string, from: number): number {
  for (let index = from; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (character === 0x22) return index;
    if (character === 0x5c) index += 1;
  }
  return text.length;
}

/** Only white space can stand between a key and its colon. */
export function isBeforeColon(text: string, from: number): boolean {
  let index = from;
  while (text.charCodeAt(index) <= 0x20) index += 1;
  return text.charCodeAt(index) === 0x3a;
}
