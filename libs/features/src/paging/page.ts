import { GatewayError } from '#contracts';

/** A part of a list, newest first. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Asks for the part that follows; null at the end. */
  readonly nextCursor: string | null;
}

/** Which part of a list. */
export interface PageRequest {
  /** 1 to 1000. */
  readonly limit: number;
  readonly cursor: string | null;
}

/** Where a list continues: behind the row of this time and id. */
export interface Position {
  /** ISO time with microseconds, as Postgres writes it. */
  readonly time: string;
  readonly id: string;
}

/** A row that is shown as it was read: its statement names the columns, and what they are says the contract of who shows it. */
export type ShownRow = Readonly<Record<string, unknown>>;

/** The same in a list. */
export type ListedRow = ShownRow & Position;

/** Writes a position as an opaque text. */
export const toCursor = ({ time, id }: Position): string => Buffer.from(`${time}|${id}`).toString('base64url');

const POSITION = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)\|([\w-]{1,80})$/;

/** Whether there is such a time; the database has no year 0, and fails on what it does not know. */
function isMoment(time: string): boolean {
  const date = new Date(time);
  return !time.startsWith('0000') && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(time.slice(0, 19));
}

/** @throws GatewayError `invalid_parameter`: the text is none of our cursors. */
export function fromCursor(cursor: string | null): Position | null {
  if (cursor === null) return null;
  const [, time, id] = POSITION.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (time === undefined || id === undefined || !isMoment(time)) throw foreignCursor();
  return { time, id };
}

/**
 * The row that a list continues after whose ids are whole numbers; null at its beginning.
 *
 * @throws GatewayError `invalid_parameter`: the text is none of our cursors, or one of a list with other ids.
 */
export function numberOfCursor(cursor: string | null): string | null {
  const id = fromCursor(cursor)?.id ?? null;
  if (id !== null && !/^\d{1,18}$/.test(id)) throw foreignCursor();
  return id;
}

/** A cursor that no list of ours gave. */
export const foreignCursor = (): GatewayError =>
  GatewayError.ofField('cursor', 'must be the next_cursor of an earlier answer');

/** The SQL that writes a time the way a cursor holds it. */
export const cursorTime = (column: string): string =>
  `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** Cuts a list that was read one row too far into a page. */
export function toPage<Row extends Position>(rows: readonly Row[], limit: number): Page<Row> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last ? toCursor(last) : null };
}

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

/** The same of a list whose cursor is the id of its last row. */
export function pageByLastId<Row extends { readonly id: string }>(rows: readonly Row[], limit: number): Page<Row> {
  const items = rows.slice(0, limit);
  return { items, nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}
