import { nextTurn, Turns } from '../clock/turns.js';

/** How much is copied together, and how large the pieces are that bytes are kept in meanwhile. */
const BLOCK_BYTES = 1024 * 1024;
const FIRST_BLOCK_BYTES = 16 * 1024;

/**
 * A body of which this part has come gets the memory of its announced length at once. A client that announces a length and
 * sends nothing gets none.
 */
const TRUSTED_PART = 1 / 8;

/**
 * The bytes of a body as they come. What comes in many pieces is copied into blocks: a piece of one byte would otherwise
 * keep a hundred bytes of its own and the whole buffer it was read into. A body that announced its length ends up in one
 * block of that length, so that it is never held twice.
 */
export class BodyBytes {
  private only: Buffer | undefined;
  private readonly blocks: Buffer[] = [];
  private free = 0;
  private byteLength = 0;

  /** @param announcedBytes what the sender said the length will be; it need not be true. */
  constructor(private readonly announcedBytes = 0) {}

  get length(): number {
    return this.byteLength;
  }

  add(bytes: Buffer): void {
    const isFirst = this.byteLength === 0;
    this.byteLength += bytes.length;
    if (isFirst) {
      this.only = bytes;
      return;
    }
    if (this.only) this.copy(this.only);
    this.only = undefined;
    this.copy(bytes);
  }

  clear(): void {
    this.only = undefined;
    this.blocks.length = 0;
    this.free = 0;
    this.byteLength = 0;
  }

  /** All bytes in one piece; other work runs while a large body is put together. */
  joined(): Buffer | Promise<Buffer> {
    if (this.only) return this.only;
    const [first] = this.blocks;
    if (!first) return Buffer.alloc(0);
    return this.blocks.length === 1 ? first.subarray(0, this.byteLength) : this.joinedInTurns();
  }

  private async joinedInTurns(): Promise<Buffer> {
    const whole = Buffer.allocUnsafeSlow(this.byteLength);
    const turns = new Turns();
    await nextTurn(turns);
    for (let filled = 0; filled < this.byteLength;) {
      const block = this.blocks.shift();
      if (!block) break;
      filled += block.copy(whole, filled);
      if (turns.isOver) await nextTurn(turns);
    }
    return whole;
  }

  private copy(bytes: Buffer): void {
    for (let from = 0; from < bytes.length;) {
      if (this.free === 0) this.grow(bytes.length - from);
      const block = this.blocks.at(-1);
      if (!block) return;
      const copied = bytes.copy(block, block.length - this.free, from);
      this.free -= copied;
      from += copied;
    }
  }

  private grow(atLeast: number): void {
    if (this.isTrusted(atLeast)) return this.joinInto(Buffer.allocUnsafeSlow(this.announcedBytes));
    const next = Math.max(FIRST_BLOCK_BYTES, (this.blocks.at(-1)?.length ?? 0) * 2, atLeast);
    const size = Math.min(BLOCK_BYTES, next);
    this.blocks.push(Buffer.allocUnsafeSlow(size));
    this.free = size;
  }

  private isTrusted(atLeast: number): boolean {
    const blocks = this.blocks.reduce((bytes, { length }) => bytes + length, 0);
    const come = blocks + atLeast;
    return come <= this.announcedBytes && come >= this.announcedBytes * TRUSTED_PART;
  }

  /** All blocks are full when one more is needed. */
  private joinInto(whole: Buffer): void {
    let filled = 0;
    for (const block of this.blocks.splice(0)) filled += block.copy(whole, filled);
    this.blocks.push(whole);
    this.free = whole.length - filled;
  }
}
