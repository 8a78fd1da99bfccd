/** Every escape sequence of a JSON text; those of four digits stand for what has no other form in it. */
const ESCAPES = /\\(?:u(?:0000|d[89a-f][0-9a-f]{2})|.)/g;

/** Length of an escape sequence with four digits. */
const CODE_ESCAPE = 6;

/**
 * Written JSON in which NUL and halves of surrogate pairs became U+FFFD: no database takes them, nor do many vendors. To
 * be given to `jsonBytes`.
 */
export const wellFormedJson = (json: string): string =>
  json.replace(ESCAPES, (escape) => (escape.length === CODE_ESCAPE ? String.raw`\ufffd` : escape));
