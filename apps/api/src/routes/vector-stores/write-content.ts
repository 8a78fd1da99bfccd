import type { Response } from 'express';
import { nextTurn, Turns } from '#platform';
import { withCode } from '../../http/envelope.js';
import { drained } from '../../http/drained.js';
import { JSON_TYPE, STALL_MS } from '../../http/serialized-body.js';

/** About how much is written at once, in characters. */
const WRITTEN_AT_ONCE = 64 * 1024;

/**
 * Writes the text of a file as one page of one text, a piece at a time and no faster than the client reads; one that reads
 * nothing is cut off, and so is an answer whose text ends too early.
 */
export async function writeContent(response: Response, pieces: AsyncIterable<string>): Promise<void> {
  const data = [{ type: 'text', text: '' }];
  const page = withCode({ object: 'vector_store.file_content.page', data, has_more: false, next_page: null });
  const [before, behind] = JSON.stringify(page).split('"text":""');
  response.writeHead(200, { 'content-type': JSON_TYPE });
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  const turns = new Turns();
  let waiting = `${before}"text":"`;
  for await (const piece of pieces) {
    waiting += JSON.stringify(piece).slice(1, -1);
    if (turns.isOver) await nextTurn(turns);
    if (waiting.length < WRITTEN_AT_ONCE) continue;
    if (!response.write(waiting) && !response.destroyed) await drained(response, STALL_MS);
    if (response.destroyed) return;
    waiting = '';
  }
  response.end(`${waiting}"${behind}`);
}
