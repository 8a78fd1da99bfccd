import { GatewayError } from '#contracts';
import { DIFFERENT_KEYS_MAX, endOfString, hasManyDifferentKeys, isBeforeColon } from '#platform';

/** Keys of all objects within a value. Fewer than its text has colons when a key stood twice in an object. */
export function keysIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const entry of value) keys += keysIn(entry);
    return keys;
  }
  const fields = value as Record<string, unknown>;
  for (const key of Object.keys(fields)) {
    const inner = fields[key];
    keys += typeof inner === 'object' ? 1 + keysIn(inner) : 1;
  }
  return keys;
}

/** @throws GatewayError `invalid_json` for text with more different keys than any request has. It need not be valid. */
export function expectFewDifferentKeys(text: string): void {
  if (hasManyDifferentKeys(text))
    throw new GatewayError('invalid_json', `The body must hold at most ${DIFFERENT_KEYS_MAX} different keys.`);
}

/** Letters, digits and the underscore have no reason to be escaped, but to look like another name. */
const NEEDLESS_ESCAPE = /(?<!\\)(?:\\\\)*\\u00(?:3[0-9]|[46][1-9a-f]|[57][0-9a]|5f)/i;

/** The longest part of a path and of a key that an answer repeats, in characters. */
const QUOTED_MAX = 100;

interface Level {
  /** Keys so far; null in an array. */
  readonly keys: Set<string> | null;
  /** Where the value is that is being read: a key or a number. */
  at: string;
  index: number;
}

/**
 * Looks for keys that a parser and another may read differently: one that stands twice in its object, one whose letters
 * are escaped, and `__proto__`, which some languages take for more than a name.
 *
 * @param text valid JSON.
 * @throws GatewayError `invalid_json` naming the first such key and where it is.
 */
export function refuseKeys(text: string): void {
  const levels: Level[] = [];
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (character === 0x22) {
      const level = levels.at(-1);
      const end = endOfString(text, index + 1);
      if (level?.keys && isBeforeColon(text, end + 1)) takeKey(text.slice(index + 1, end), level, level.keys, levels);
      index = end;
    } else takePunctuation(character, levels);
  }
}

function takePunctuation(character: number, levels: Level[]): void {
  if (character === 0x7b) levels.push({ keys: new Set(), at: '', index: 0 });
  else if (character === 0x5b) levels.push({ keys: null, at: '', index: 0 });
  else if (character === 0x7d || character === 0x5d) levels.pop();
  else if (character === 0x2c) {
    const level = levels.at(-1);
    if (level) level.index += 1;
  }
}

function takeKey(written: string, level: Level, keys: Set<string>, levels: readonly Level[]): void {
  const key = written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written;
  level.at = key;
  if (NEEDLESS_ESCAPE.test(written))
    throw refused(
      levels,
      `is written with escaped letters (${JSON.stringify(written.slice(0, QUOTED_MAX))}); write it plainly`,
    );
  if (key === '__proto__') throw refused(levels, 'cannot be the name of a field');
  if (keys.has(key)) throw refused(levels, 'stands twice in the same object; send it once');
  keys.add(key);
}

function refused(levels: readonly Level[], rule: string): GatewayError {
  const path = levels.reduce((before, { keys, at, index }) => {
    if (keys === null) return `${before}[${index}]`;
    return before === '' ? at : `${before}.${at}`;
  }, '');
  const key = levels.at(-1)?.at ?? '';
  const param = path.slice(0, QUOTED_MAX);
  const where = path === key ? '' : ` (${param})`;
  return new GatewayError('invalid_json', `The key ${JSON.stringify(key.slice(0, QUOTED_MAX))}${where} ${rule}.`, {
    param,
  });
}
