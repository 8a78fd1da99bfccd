import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SafeAnswer } from '#platform';
import { BlockSource, BLOCK_BYTES } from './byte-source.js';
import { MediaUnreadable } from './media-unreadable.js';

/** The part of an answer that has arrived, in a temporary file that only this process can read. */
class Spool {
  private arrived = 0;
  private readonly chunks: AsyncIterator<Buffer>;

  private constructor(
    private readonly answer: SafeAnswer,
    private readonly folder: string,
    private readonly file: FileHandle,
  ) {
    this.chunks = (answer.body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }

  static async create(answer: SafeAnswer): Promise<Spool> {
    const folder = await mkdtemp(join(tmpdir(), 'gateway-reference-'));
    return new Spool(answer, folder, await open(join(folder, 'file'), 'wx+', 0o600));
  }

  /** Pulls the answer up to a position, or to its end; answers how much has arrived by then. */
  async pullTo(end: number): Promise<number> {
    while (this.arrived < end) {
      const { value, done } = await this.chunks.next();
      if (done) break;
      await this.file.write(value, 0, value.length, this.arrived);
      this.arrived += value.length;
    }
    return this.arrived;
  }

  async read(start: number, end: number): Promise<Buffer> {
    const bytes = Buffer.alloc(end - start);
    const { bytesRead } = await this.file.read(bytes, 0, bytes.length, start);
    return bytes.subarray(0, bytesRead);
  }

  async remove(): Promise<void> {
    this.answer.body.destroy();
    await this.file.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** A file on a host without ranges: arrives from front to back, and only as far as it is read. */
export class SpooledSource extends BlockSource {
  private constructor(
    private readonly spool: Spool,
    size: number,
  ) {
    super(size);
  }

  /** @throws MediaUnreadable `too_large`, also while a file of unknown length arrives. */
  static async open(answer: SafeAnswer, maxBytes: number): Promise<SpooledSource> {
    const announced = answer.headers['content-length'];
    if (Number(announced ?? 0) > maxBytes) throw new MediaUnreadable('too_large', `has ${Number(announced)} bytes`);
    const spool = await Spool.create(answer);
    try {
      const size = announced === undefined ? await spool.pullTo(Number.POSITIVE_INFINITY) : Number(announced);
      return new SpooledSource(spool, size);
    } catch (error) {
      await spool.remove();
      throw error;
    }
  }

  async *stream(start: number): AsyncIterable<Buffer> {
    for (let at = start; at < this.size; at += BLOCK_BYTES) {
      const end = Math.min(at + BLOCK_BYTES, this.size);
      yield await this.load(at, end);
    }
  }

  protected async load(start: number, end: number): Promise<Buffer> {
    await this.spool.pullTo(end);
    return this.spool.read(start, end);
  }

  async close(): Promise<void> {
    await this.spool.remove();
  }
}
