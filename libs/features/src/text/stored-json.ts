import type { StatementRunner } from '#platform';
import {
  BodyBytes,
  CONVERSATION_JSON,
  type JsonBounds,
  JsonScan,
  nextTurn,
  parsedJson,
  parsedParts,
  textOf,
  Turns,
} from '#platform';

/** Stored JSON up to this size is read with its row; a longer one in pieces, in bytes. */
export const SHORT_JSON_BYTES = 256 * 1024;

/** How much of it one row carries, in bytes. */
const PIECE_BYTES = 256 * 1024;

interface PieceRow {
  readonly nth: number;
  readonly place: number;
  readonly piece: Buffer;
}

/**
 * Long values in pieces that the driver can read one at a time: 60 MB at once block all other work for a third of a second.
 *
 * @param from a query for `nth` and the value `json`.
 */
const inPieces = (from: string): string => `
with whole as materialized (
  select nth::integer, convert_to(json::text, 'UTF8') as bytes from (${from}) asked (nth, json)
)
select nth, place, substring(bytes from 1 + place * ${PIECE_BYTES} for ${PIECE_BYTES}) as piece
from whole cross join generate_series(0, (length(bytes) - 1) / ${PIECE_BYTES}) as place`;

/**
 * The values of a query as one array, in the order of their numbers.
 *
 * @param from a query for a number and a JSON value, in this order.
 * @throws GatewayError `invalid_json`: together they have more structure than `bounds` allow.
 */
export async function readLongJson(
  database: StatementRunner,
  from: string,
  values: readonly unknown[],
  bounds: JsonBounds = CONVERSATION_JSON,
): Promise<unknown[]> {
  const { rows } = await database.query<PieceRow>({ text: inPieces(from), values, limit: 'long' });
  rows.sort((one, other) => one.nth - other.nth || one.place - other.place);
  const scan = new JsonScan(bounds);
  const body = new BodyBytes();
  const turns = new Turns();
  await nextTurn(turns);
  const add = (bytes: Buffer): void => {
    scan.push(bytes);
    body.add(bytes);
  };
  for (const [index, { place, piece }] of rows.entries()) {
    if (place === 0) add(Buffer.from(index === 0 ? '[' : ','));
    add(piece);
    if (turns.isOver) await nextTurn(turns);
  }
  add(Buffer.from(rows.length === 0 ? '[]' : ']'));
  scan.end();
  return (await parsedInSteps(await body.joined(), scan)) as unknown[];
}

async function parsedInSteps(bytes: Buffer, scan: JsonScan): Promise<unknown> {
  const parts = await parsedParts(bytes, 0, scan.longStrings);
  await nextTurn();
  const value = parsedJson(textOf(parts.structure));
  await nextTurn();
  return parts.restored(value);
}
