import type { Page, PageRequest } from '#features';
import { nextTurn, Turns } from '#platform';
import { stringify } from 'csv-stringify/sync';
import type { Response } from 'express';
import { DataWith } from './http/envelope.js';
import { drained } from './http/event-stream.js';
import { SerializedBody, STALL_MS } from './http/serialized-body.js';
import { OpenTransfers } from './routes/uploads/open-transfers.js';
import { sentOver } from './routes/uploads/send-file.js';
import { viewOfRow } from './row-view.js';

/** Rows read at once for an export. */
const EXPORT_PAGE = 1_000;

/** Lists on their way as CSV, which read the database for as long as their clients take. */
const EXPORTS = new OpenTransfers('download');

export interface ListRequest {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly format: 'json' | 'csv';
}

/** A part of a list as JSON; or the whole list as CSV, read part by part while it is sent. */
export async function sendList<Row extends object>(
  response: Response,
  { limit, cursor, format }: ListRequest,
  read: (page: PageRequest) => Promise<Page<Row>>,
  stallMs = STALL_MS,
): Promise<DataWith<unknown> | undefined> {
  if (format === 'csv') {
    const accountId = response.req.caller?.accountId ?? 'operators';
    return EXPORTS.during(accountId, () => sendCsv(response, read, stallMs), sentOver(response));
  }
  const { items, nextCursor } = await read({ limit, cursor: cursor ?? null });
  return new DataWith(items.map(viewOfRow), { next_cursor: nextCursor });
}

/** As `sendList`, for pages: the items of a part, each as `view` shows it. */
export async function sendItems<Row extends object, Item>(
  response: Response,
  list: ListRequest,
  read: (page: PageRequest) => Promise<Page<Row>>,
  view: (row: Row) => Item,
): Promise<{ items: Item[]; next_cursor: string | null } | undefined> {
  if (list.format === 'csv') {
    await sendList(response, list, read);
    return undefined;
  }
  const { items, nextCursor } = await read({ limit: list.limit, cursor: list.cursor ?? null });
  return { items: items.map(view), next_cursor: nextCursor };
}

async function sendCsv<Row extends object>(
  response: Response,
  read: (page: PageRequest) => Promise<Page<Row>>,
  stallMs: number,
): Promise<undefined> {
  let page = await read({ limit: EXPORT_PAGE, cursor: null });
  response.type('text/csv; charset=utf-8');
  response.setHeader('content-disposition', 'attachment');
  // What is written as an answer to HEAD is dropped at once, so that nothing would hold the reading up.
  if (response.req.method === 'HEAD') {
    response.flushHeaders();
    return undefined;
  }
  for (let isFirst = true; ; isFirst = false) {
    const text = await inTurns(page.items, isFirst);
    if (!response.write(text) && !response.destroyed) await drained(response, stallMs);
    if (page.nextCursor === null || response.destroyed) break;
    await response.req.expectStillAllowed?.();
    page = await read({ limit: EXPORT_PAGE, cursor: page.nextCursor });
  }
  return undefined;
}

/** Rows as CSV, one after the other: some have thousands of characters, and a thousand of those take most of a second. */
async function inTurns(rows: readonly object[], withHeader: boolean): Promise<string> {
  const turns = new Turns();
  let text = '';
  for (const [place, row] of rows.entries()) {
    text += toCsv([row], withHeader && place === 0);
    if (turns.isOver) await nextTurn(turns);
  }
  return text;
}

export const csvOf = (rows: readonly object[]): SerializedBody =>
  new SerializedBody(toCsv(rows, true), 'text/csv; charset=utf-8');

/** Rows as CSV. Texts that a spreadsheet would run as a formula are defused. */
function toCsv(rows: readonly object[], withHeader: boolean): string {
  const records = rows.map((row) => Object.entries(viewOfRow(row)).map(([, field]) => cell(field)));
  const header = withHeader && rows[0] ? [Object.keys(viewOfRow(rows[0]))] : [];
  return stringify([...header, ...records], { escape_formulas: true });
}

/** Numbers stay numbers, so that a negative amount is not taken for a formula. */
function cell(field: unknown): string | number {
  if (field === null || field === undefined) return '';
  if (typeof field === 'number' || typeof field === 'string') return field;
  return JSON.stringify(field);
}
