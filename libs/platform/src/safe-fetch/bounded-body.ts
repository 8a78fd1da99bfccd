import { Transform, type Readable, type TransformCallback } from 'node:stream';
import { PieceCount } from '../floods/piece-count.js';
import { asFetchError, FetchRefused } from './fetch-errors.js';

class ByteLimit extends Transform {
  private count = 0;
  private readonly pieces = new PieceCount();

  constructor(private readonly maxBytes: number) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.count += chunk.length;
    if (this.count > this.maxBytes) done(tooLarge(this.maxBytes));
    else if (this.pieces.isTooMany(chunk)) done(tooManyPieces(this.pieces));
    else done(null, chunk);
  }
}

/** The refusal of an answer that is longer than allowed. */
export const tooLarge = (maxBytes: number): FetchRefused =>
  new FetchRefused('too_large', `the answer is larger than ${maxBytes} bytes`);

const tooManyPieces = ({ fault }: PieceCount): FetchRefused =>
  new FetchRefused('too_many_pieces', `the answer ${fault}`);

/**
 * The body as a stream that fails with `too_large` after `maxBytes`, with `too_many_pieces` where it comes in very many very short ones,
 * and names failures of the transport. Destroying the stream ends the connection; an unread answer may simply be destroyed.
 */
export function boundedBody(body: Readable, maxBytes: number, callerSignal?: AbortSignal): Readable {
  const limit = new ByteLimit(maxBytes);
  body.once('error', (error) => limit.destroy(asFetchError(error, callerSignal) as Error));
  // An error without a listener would end the process; a later reader still gets it.
  limit.on('error', () => undefined);
  // The connection has to end with the reader, or a slow host would hold it to the last byte.
  limit.once('close', () => body.destroy());
  return body.pipe(limit);
}

/**
 * Reads at most `maxBytes` of the body, for `withinMs` at the longest, and leaves the rest; for answers of which only the
 * beginning matters. What came in that time counts.
 */
export async function readBeginning(body: Readable, maxBytes: number, withinMs?: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let count = 0;
  let isOver = false;
  const end = (): void => {
    isOver = true;
    body.destroy();
  };
  const timer = withinMs === undefined ? undefined : setTimeout(end, withinMs);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      count += chunk.length;
      if (count >= maxBytes) break;
    }
  } catch (error) {
    if (!isOver) throw error;
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}
