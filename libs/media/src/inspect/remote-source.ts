import { contentRange, RemoteStatus, type SafeAnswer, type SafeFetcher } from '#platform';
import { BLOCK_BYTES, BlockSource, BufferSource, type ByteSource, type KeptBytes } from './byte-source.js';
import { MediaUnreadable } from './media-unreadable.js';

export interface RemoteSourceOptions {
  readonly fetcher: SafeFetcher;
  /** Longest file; a longer one is refused with `too_large`. */
  readonly maxBytes: number;
  /** Longest time from opening to the last read. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Whose file it is; see `SafeGetOptions`. */
  readonly accountId?: string | undefined;
  /** Memory for what is kept of it. Absent: only the read budget bounds it. */
  readonly kept?: KeptBytes | undefined;
}

/**
 * Opens a remote file with one ranged GET, never HEAD: presigned links refuse HEAD. A host that knows no ranges is read
 * from front to back, only as far as needed. Nothing is written to the disk.
 *
 * @throws MediaUnreadable `too_large` or `bad_answer`; RemoteStatus; FetchRefused; FetchFailed; NoMemoryForFiles.
 */
export async function openRemoteSource(url: string, options: RemoteSourceOptions): Promise<ByteSource> {
  const transfer = new Transfer(options);
  const answer = await transfer.get(url, { range: `bytes=0-${BLOCK_BYTES - 1}` });
  try {
    const again = (): Promise<SafeAnswer> => transfer.get(url, {});
    return answer.status === 200
      ? await StreamedSource.open(answer, { ...options, again })
      : await rangedSource(answer, transfer, options);
  } catch (error) {
    answer.body.destroy();
    options.kept?.letGo();
    throw error;
  }
}

async function rangedSource(
  answer: SafeAnswer,
  transfer: Transfer,
  { maxBytes, kept }: RemoteSourceOptions,
): Promise<ByteSource> {
  // An empty file has no satisfiable range.
  if (answer.status === 416) {
    answer.body.destroy();
    return new BufferSource(Buffer.alloc(0));
  }
  if (answer.status !== 206) throw new RemoteStatus(answer.status);
  const range = contentRange(answer);
  if (range?.start !== 0) throw new MediaUnreadable('bad_answer', 'is answered with a range that was not asked for');
  if (range.size > maxBytes) throw new MediaUnreadable('too_large', `has ${range.size} bytes`);
  const beginning = await takeExactly(answer, Math.min(BLOCK_BYTES, range.size));
  return new RangedSource(answer.url, { transfer, size: range.size, etag: answer.headers.etag, beginning, kept });
}

/** All requests for one file: they share its time and its bounds. */
class Transfer {
  private readonly deadline: number;

  constructor(private readonly options: RemoteSourceOptions) {
    this.deadline = performance.now() + options.timeoutMs;
  }

  get(url: string, headers: Record<string, string>): Promise<SafeAnswer> {
    const { fetcher, maxBytes, signal, accountId } = this.options;
    const timeoutMs = Math.max(1, Math.ceil(this.deadline - performance.now()));
    return fetcher.get(url, { headers, maxBytes, timeoutMs, signal, accountId });
  }
}

interface RangedFile {
  readonly transfer: Transfer;
  readonly size: number;
  readonly etag: string | string[] | undefined;
  readonly beginning: Buffer;
  readonly kept: KeptBytes | undefined;
}

/** A file on a host that answers ranges. Every answer must be of the file that was opened. */
class RangedSource extends BlockSource {
  constructor(
    private readonly url: string,
    private readonly file: RangedFile,
  ) {
    super(file.size, file.kept);
    this.keepBeginning(file.beginning);
  }

  async *stream(start: number): AsyncIterable<Buffer> {
    const answer = await this.ask(start, this.size);
    yield* answer.body as AsyncIterable<Buffer>;
  }

  protected async load(start: number, end: number): Promise<Buffer> {
    return takeExactly(await this.ask(start, end), end - start);
  }

  private async ask(start: number, end: number): Promise<SafeAnswer> {
    const answer = await this.file.transfer.get(this.url, { range: `bytes=${start}-${end - 1}` });
    const range = contentRange(answer);
    const same = answer.status === 206 && range?.start === start && range.size === this.size;
    if (same && answer.headers.etag === this.file.etag) return answer;
    answer.body.destroy();
    throw new MediaUnreadable('changed', 'changed while it was read');
  }
}

/** Reads the given number of bytes and ends the answer there, whatever else the host would send. */
async function takeExactly({ body }: SafeAnswer, count: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let have = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    have += chunk.length;
    if (have >= count) break;
  }
  return Buffer.concat(chunks).subarray(0, count);
}

/** How often a host is asked for a file again from its beginning: to read behind its length, and back to a fragment. */
const MAX_BEGINNINGS = 4;

/** How a file on a host without ranges is opened. */
export interface StreamOptions {
  /** Longest file; a longer one is refused with `too_large`. */
  readonly maxBytes: number;
  /** Asks the host once more. */
  readonly again: () => Promise<SafeAnswer>;
  readonly kept?: KeptBytes | undefined;
}

/**
 * A file on a host without ranges: it arrives from front to back, only as far as it is read, and what is passed over is kept
 * nowhere. The host is asked again for what lies before. Of a file of unknown length all is counted first.
 */
export class StreamedSource extends BlockSource {
  private chunks: AsyncIterator<Buffer> | undefined;
  /** What has arrived and was not taken, and where it begins. */
  private rest: Buffer = Buffer.alloc(0);
  private at = 0;
  private beginnings = 0;

  private constructor(
    private answer: SafeAnswer,
    private readonly options: StreamOptions,
    size: number,
  ) {
    super(size, options.kept);
  }

  /** @throws MediaUnreadable `too_large`. */
  static async open(answer: SafeAnswer, options: StreamOptions): Promise<StreamedSource> {
    const announced = answer.headers['content-length'];
    if (announced === undefined) return StreamedSource.counted(answer, options);
    const size = Number(announced);
    if (size > options.maxBytes) throw new MediaUnreadable('too_large', `has ${size} bytes`);
    const source = new StreamedSource(answer, options, size);
    source.begin(answer);
    return source;
  }

  /** Its beginning is kept, which is enough for most files. */
  private static async counted(answer: SafeAnswer, options: StreamOptions): Promise<StreamedSource> {
    const beginning: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      if (bytes < BLOCK_BYTES) beginning.push(chunk);
      bytes += chunk.length;
    }
    const source = new StreamedSource(answer, options, bytes);
    source.keepBeginning(Buffer.concat(beginning).subarray(0, BLOCK_BYTES));
    return source;
  }

  async *stream(start: number): AsyncIterable<Buffer> {
    await this.goTo(start);
    for (let chunk = await this.next(); chunk; chunk = await this.next()) yield chunk;
  }

  protected async load(start: number, end: number): Promise<Buffer> {
    await this.goTo(start);
    const parts: Buffer[] = [];
    while (this.at < end) {
      const chunk = await this.next();
      if (!chunk) break;
      const surplus = Math.max(0, this.at - end);
      if (surplus > 0) this.giveBack(chunk, surplus);
      parts.push(chunk.subarray(0, chunk.length - surplus));
    }
    return Buffer.concat(parts);
  }

  override async close(): Promise<void> {
    this.answer.body.destroy();
    await super.close();
  }

  private begin(answer: SafeAnswer): void {
    this.answer = answer;
    this.chunks = (answer.body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    this.rest = Buffer.alloc(0);
    this.at = 0;
    this.beginnings += 1;
  }

  private async goTo(start: number): Promise<void> {
    if (!this.chunks || start < this.at) await this.beginAgain();
    while (this.at < start) {
      const chunk = await this.next();
      if (!chunk) return;
      if (this.at > start) this.giveBack(chunk, this.at - start);
    }
  }

  private async beginAgain(): Promise<void> {
    if (this.beginnings === MAX_BEGINNINGS)
      throw new MediaUnreadable('budget', 'has a header that is too scattered to be read');
    const { etag, 'content-length': length } = this.answer.headers;
    this.answer.body.destroy();
    const answer = await this.options.again();
    const isSame = answer.status === 200 && answer.headers.etag === etag && answer.headers['content-length'] === length;
    this.begin(answer);
    if (!isSame) throw new MediaUnreadable('changed', 'changed while it was read');
  }

  /** The next piece, behind which `at` stands then; undefined at the end. */
  private async next(): Promise<Buffer | undefined> {
    let chunk: Buffer | undefined = this.rest;
    this.rest = Buffer.alloc(0);
    if (chunk.length === 0) {
      const { value, done } = (await this.chunks?.next()) ?? { value: undefined, done: true };
      chunk = done ? undefined : value;
    }
    this.at += chunk?.length ?? 0;
    return chunk;
  }

  private giveBack(chunk: Buffer, bytes: number): void {
    this.rest = chunk.subarray(chunk.length - bytes);
    this.at -= bytes;
  }
}
