import type { SafeAnswer } from '#platform';
import { BLOCK_BYTES, BlockSource, type KeptBytes } from './byte-source.js';
import { MediaUnreadable } from './media-unreadable.js';

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
