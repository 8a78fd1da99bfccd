import { NamedError } from '#platform';
import { MediaUnreadable } from './media-unreadable.js';

/** Reads come in blocks of this size, so that looking for the next field rarely costs another request. */
export const BLOCK_BYTES = 64 * 1024;

/** How much of one file is read, and in how many requests, before its header counts as not to be found. */
export const READ_BUDGET = { bytes: 4 * 1024 * 1024, requests: 48 } as const;

/** There is no memory for more of an account's files now: a matter of time, and not the file's fault. */
export class NoMemoryForFiles extends NamedError {
  constructor() {
    super('There is not enough memory to inspect more files at the moment.');
  }
}

/**
 * Memory for what a process keeps of files elsewhere while it looks at them, in bytes. An account gets a quarter of it at
 * most, and half of what others leave, so that slow hosts of one do not take it from all.
 */
export class FileMemory {
  private taken = 0;
  private readonly ofAccounts = new Map<string, number>();

  constructor(private readonly most: number) {}

  /** What one file of an account takes. */
  of(accountId: string): KeptBytes {
    let bytes = 0;
    return {
      take: (more) => {
        this.change(accountId, more);
        bytes += more;
      },
      letGo: () => {
        if (bytes > 0) this.change(accountId, -bytes);
        bytes = 0;
      },
    };
  }

  private change(accountId: string, bytes: number): void {
    const own = this.ofAccounts.get(accountId) ?? 0;
    const share = Math.min(this.most / 4, (this.most - (this.taken - own)) / 2);
    if (bytes > 0 && own + bytes > share) throw new NoMemoryForFiles();
    this.taken += bytes;
    if (own + bytes > 0) this.ofAccounts.set(accountId, own + bytes);
    else this.ofAccounts.delete(accountId);
  }
}

export interface KeptBytes {
  /** @throws NoMemoryForFiles */
  take(bytes: number): void;
  letGo(): void;
}

/** A file that can be read at any place. Positions are bytes from the beginning. */
export interface ByteSource {
  readonly size: number;

  /**
   * The bytes from `start` up to but without `end`; fewer at the end of the file, none past it.
   *
   * @throws MediaUnreadable `budget` when too much was read already.
   */
  read(start: number, end: number): Promise<Buffer>;

  /** The bytes from `start` to the end in one pass, outside the read budget and without keeping them. */
  stream(start: number): AsyncIterable<Buffer>;

  /** Lets go of connections and memory. */
  close(): Promise<void>;
}

export class BufferSource implements ByteSource {
  readonly size: number;

  constructor(private readonly bytes: Buffer) {
    this.size = bytes.length;
  }

  async read(start: number, end: number): Promise<Buffer> {
    return start >= 0 && start < end ? this.bytes.subarray(start, end) : Buffer.alloc(0);
  }

  async *stream(start: number): AsyncIterable<Buffer> {
    yield this.bytes.subarray(start);
  }

  async close(): Promise<void> {
    // Memory needs no closing.
  }
}

/** A file elsewhere: read in blocks that are kept, within the read budget. */
export abstract class BlockSource implements ByteSource {
  private readonly blocks = new Map<number, Buffer>();
  private bytesLoaded = 0;
  private requests = 0;

  protected constructor(
    readonly size: number,
    private readonly kept?: KeptBytes,
  ) {}

  abstract stream(start: number): AsyncIterable<Buffer>;

  async close(): Promise<void> {
    this.blocks.clear();
    this.kept?.letGo();
  }

  /** Fetches exactly the bytes from `start` up to but without `end`, both inside the file. */
  protected abstract load(start: number, end: number): Promise<Buffer>;

  async read(start: number, end: number): Promise<Buffer> {
    const last = Math.min(end, this.size);
    if (start < 0 || start >= last) return Buffer.alloc(0);
    const firstBlock = Math.floor(start / BLOCK_BYTES);
    const endBlock = Math.ceil(last / BLOCK_BYTES);
    await this.loadMissing(firstBlock, endBlock);
    const offset = firstBlock * BLOCK_BYTES;
    return this.joined(firstBlock, endBlock).subarray(start - offset, last - offset);
  }

  /** Keeps the first bytes of the file, which came with the response that gave its size. */
  protected keepBeginning(bytes: Buffer): void {
    this.charge(bytes.length);
    if (bytes.length === Math.min(BLOCK_BYTES, this.size)) this.blocks.set(0, bytes);
  }

  /** Loads each run of missing blocks in one request. */
  private async loadMissing(firstBlock: number, endBlock: number): Promise<void> {
    for (let block = firstBlock; block < endBlock; block += 1) {
      if (this.blocks.has(block)) continue;
      let end = block + 1;
      while (end < endBlock && !this.blocks.has(end)) end += 1;
      await this.loadRun(block, end);
      block = end;
    }
  }

  private async loadRun(firstBlock: number, endBlock: number): Promise<void> {
    const start = firstBlock * BLOCK_BYTES;
    const end = Math.min(endBlock * BLOCK_BYTES, this.size);
    this.charge(end - start);
    const bytes = await this.load(start, end);
    if (bytes.length !== end - start) throw new MediaUnreadable('bad_answer', 'ended earlier than its host announced');
    for (let block = firstBlock; block < endBlock; block += 1) {
      const offset = (block - firstBlock) * BLOCK_BYTES;
      this.blocks.set(block, bytes.subarray(offset, offset + BLOCK_BYTES));
    }
  }

  private charge(bytes: number): void {
    this.requests += 1;
    this.bytesLoaded += bytes;
    if (this.requests > READ_BUDGET.requests || this.bytesLoaded > READ_BUDGET.bytes)
      throw new MediaUnreadable('budget', 'has a header that is too large or too scattered to be read');
    this.kept?.take(bytes);
  }

  private joined(firstBlock: number, endBlock: number): Buffer {
    const parts = Array.from({ length: endBlock - firstBlock }, (_, index) => this.blocks.get(firstBlock + index));
    const [only] = parts;
    if (parts.length === 1 && only) return only;
    return Buffer.concat(parts.filter((part) => part !== undefined));
  }
}
