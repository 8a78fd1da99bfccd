import { fromCursor, type Page, toCursor } from './page.js';

/** The row that a list continues after; null at its beginning. @throws GatewayError `invalid_parameter`. */
export const idOfCursor = (cursor: string | null): string | null => fromCursor(cursor)?.id ?? null;

/** Cuts a list that was read one row too far into a page. */
export function pageById<Row extends { readonly id: string; readonly createdAt: Date }>(
  rows: readonly Row[],
  limit: number,
): Page<Row> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  // The database looks the exact time of the row up; here it is only what every cursor has.
  const position = last && { time: last.createdAt.toISOString().replace('Z', '000Z'), id: last.id };
  return { items, nextCursor: rows.length > limit && position ? toCursor(position) : null };
}
