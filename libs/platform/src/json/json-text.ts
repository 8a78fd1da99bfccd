import { isAscii, isUtf8 } from 'node:buffer';
import { GatewayError } from '#contracts';

/**
 * The text that UTF-8 says. Most bodies are plain ASCII, which is decoded in half the time.
 *
 * @param latin1 the bytes as text, a character for each, where that is at hand.
 */
export function textOf(bytes: Buffer, latin1?: string): string {
  if (isAscii(bytes)) return latin1 ?? bytes.toString('latin1');
  if (!isUtf8(bytes)) throw new GatewayError('invalid_json', 'The body is not valid UTF-8.');
  return bytes.toString('utf8');
}

/** @throws GatewayError `invalid_json` with the parser's words. */
export function parsedJson(text: string, clean = (message: string): string => message): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Not kept as a cause: its words quote the body, and causes may be logged.
    const reason = error instanceof Error ? error.message : String(error);
    throw new GatewayError('invalid_json', `The body is not valid JSON: ${clean(reason)}.`);
  }
}

/** Every escape sequence of a JSON text; those of four digits stand for what has no other form in it. */
const ESCAPES = /\\(?:u(?:0000|d[89a-f][0-9a-f]{2})|.)/g;

/** Found wherever one of four digits stands, and rarely elsewhere. */
const CODE_ESCAPES = /\\u(?:0000|d[89a-f])/;

/** Length of an escape sequence with four digits. */
const CODE_ESCAPE = 6;

/**
 * Written JSON in which NUL and halves of surrogate pairs became U+FFFD: no database takes them, nor do many vendors. To
 * be given to `jsonBytes`. Prose has no escape sequence at all, and source code thousands of harmless ones: neither is
 * searched one by one.
 */
export const wellFormedJson = (json: string): string =>
  json.includes('\\') && CODE_ESCAPES.test(json)
    ? json.replace(ESCAPES, (escape) => (escape.length === CODE_ESCAPE ? String.raw`\ufffd` : escape))
    : json;

/**
 * How many characters the texts of a parsed JSON value have, names of fields among them. Counts on until there are more than
 * `most`: a single text can be as long as a body, while its values are few.
 */
export function textCharactersIn(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let characters = 0;
  for (const [name, inner] of Object.entries(value)) {
    characters += (Array.isArray(value) ? 0 : name.length) + textCharactersIn(inner, most);
    if (characters > most) break;
  }
  return characters;
}
