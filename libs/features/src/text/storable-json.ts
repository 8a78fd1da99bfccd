/** Every escape sequence of a JSON text; those of four digits stand for what has no other form in it. */
const ESCAPES = /\\(?:u(?:0000|d[89a-f][0-9a-f]{2})|.)/g;

/** Length of an escape sequence with four digits. */
const CODE_ESCAPE = 6;

/**
 * A value as JSON that a database can hold: NUL and halves of surrogate pairs, which a model may write and no database
 * takes, become U+FFFD.
 */
export const storableJson = (value: unknown): string =>
  JSON.stringify(value).replace(ESCAPES, (escape) => (escape.length === CODE_ESCAPE ? String.raw`\ufffd` : escape));
