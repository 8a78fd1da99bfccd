import { Readable, Transform, type TransformCallback } from 'node:stream';
import type { Dispatcher } from 'undici';
import { InterimResponses, PieceCount } from '../stream-limits.js';
import { asFetchError, FetchRefused } from './fetch-errors.js';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Where a reply sends its reader: an address, or words that are none; undefined when it is no redirect. */
export function redirectTarget(reply: Dispatcher.ResponseData, from: URL): string | undefined {
  const location = [reply.headers.location].flat()[0];
  if (!REDIRECTS.has(reply.statusCode) || location === undefined) return undefined;
  return URL.canParse(location, from.href) ? new URL(location, from).href : location;
}

/** Takes note of the interim responses to one request. @throws FetchRefused `too_many_interim_responses` */
export function limitInterimResponses(): () => void {
  const interim = new InterimResponses();
  return () => {
    if (interim.isTooMany()) throw new FetchRefused('too_many_interim_responses', `the host ${interim.fault}`);
  };
}

/** How the body of a reply is encoded although plain bytes were requested; undefined when it is not. */
export function encodingOf({ headers }: Pick<Dispatcher.ResponseData, 'headers'>): string | undefined {
  const names = [headers['content-encoding'] ?? []].flat().join(', ');
  return names.split(',').every((name) => /^(?:identity)?$/i.test(name.trim()))
    ? undefined
    : names.slice(0, 100).replaceAll(/[^\w, .+-]/g, '?');
}

/**
 * A reply whose body flows to its reader, `maxBytes` at most. Of a refusal the status is what counts: a body that is
 * compressed is left out.
 *
 * @throws FetchRefused when what was requested comes compressed or announces more bytes; the reply is ended then.
 */
export function acceptBody(
  reply: Dispatcher.ResponseData,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal | undefined },
): { readonly status: number; readonly headers: Dispatcher.ResponseData['headers']; readonly body: Readable } {
  const { statusCode: status, headers, body } = reply;
  const isRefusal = status >= 400;
  const encoding = encodingOf(reply);
  const mistake = isRefusal ? undefined : mistakeOf(encoding, Number(headers['content-length'] ?? 0), maxBytes);
  if (mistake || encoding !== undefined) discard(body);
  if (mistake) throw mistake;
  return { status, headers, body: encoding === undefined ? boundedBody(body, maxBytes, signal) : Readable.from([]) };
}

function mistakeOf(encoding: string | undefined, announced: number, maxBytes: number): FetchRefused | undefined {
  if (encoding !== undefined)
    return new FetchRefused(
      'content_encoding',
      `the host sends it with content-encoding ${encoding}, which was not requested`,
    );
  return announced > maxBytes ? tooLarge(maxBytes) : undefined;
}

/** Ends an answer that will not be read; its late errors are ignored. */
export function discard(body: Readable): void {
  body.on('error', () => undefined);
  body.destroy();
}

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
const tooLarge = (maxBytes: number): FetchRefused =>
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
