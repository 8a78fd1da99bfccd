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
