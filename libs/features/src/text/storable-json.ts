import { jsonBytes, LongText, wellFormedJson } from '#platform';

/**
 * A value as JSON that a database can hold: NUL and halves of surrogate pairs, which a model may write and no database
 * takes, become U+FFFD. As bytes, which the database client passes on as they are; a long one in pieces.
 */
export async function storableJson(value: unknown): Promise<Buffer | LongText> {
  const pieces = await jsonBytes(value, wellFormedJson);
  return pieces.length === 1 && pieces[0] ? pieces[0] : new LongText(pieces);
}
