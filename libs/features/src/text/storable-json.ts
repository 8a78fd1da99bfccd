import { jsonBytes } from '#platform';

/** Every escape sequence of a JSON text; those of four digits stand for what has no other form in it. */
const ESCAPES = /\\(?:u(?:0000|d[89a-f][0-9a-f]{2})|.)/g;

/** Length of an escape sequence with four digits. */
const CODE_ESCAPE = 6;

const storable = (json: string): string =>
  json.replace(ESCAPES, (escape) => (escape.length === CODE_ESCAPE ? String.raw`\ufffd` : escape));

/**
 * A value as JSON that a database can hold: NUL and halves of surrogate pairs, which a model may write and no database
 * takes, become U+FFFD. As bytes, which a database client passes on as they are.
 */
export async function storableJson(value: unknown): Promise<Buffer> {
  const pieces = await jsonBytes(value, storable);
  return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
}
