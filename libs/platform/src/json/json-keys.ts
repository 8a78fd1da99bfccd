import { QUOTE } from './json-structure.js';

/** The most different keys of a request: ten times what the longest list of tools has. */
export const DIFFERENT_KEYS_MAX = 10_000;

const COLON = 0x3a;

/** What may be behind a text that is not a key: `,`, `]` and `}`. */
const BEHIND_VALUES = new Set([0x2c, 0x5d, 0x7d]);

/**
 * True when a JSON text, together with those before it, has more different keys than a request may have. The parser keeps each
 * new key in a table of the whole process. Enlarging that table stops all work: at two million keys for 60 ms.
 *
 * @param json need not be valid. What cannot be JSON is not scanned to its end.
 * @param known keys so far, as they are written. Those of the text are added to it.
 */
export function hasManyDifferentKeys(json: string, known = new Set<string>()): boolean {
  for (let index = json.indexOf('"'); index !== -1; index = json.indexOf('"', index)) {
    const end = endOfString(json, index + 1);
    const behind = behindSpace(json, end + 1);
    if (json.charCodeAt(behind) === COLON) known.add(json.slice(index + 1, end));
    // A million texts without anything between them would take 20 ms.
    else if (!BEHIND_VALUES.has(json.charCodeAt(behind))) return false;
    if (known.size > DIFFERENT_KEYS_MAX) return true;
    index = behind;
  }
  return false;
}

/** Where the quote stands that ends a string; the end of the text where there is none. */
export function endOfString(text: string, from: number): number {
  for (let index = from; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (character === QUOTE) return index;
    if (character === 0x5c) index += 1;
  }
  return text.length;
}

/** Only white space can be between a key and its colon. */
export const isBeforeColon = (text: string, from: number): boolean =>
  text.charCodeAt(behindSpace(text, from)) === COLON;

function behindSpace(text: string, from: number): number {
  let index = from;
  while (text.charCodeAt(index) <= 0x20) index += 1;
  return index;
}
