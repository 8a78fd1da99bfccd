import { nextTurn, Turns } from '../clock/turns.js';

/** How much is copied together, and how large the pieces are that bytes are kept in meanwhile. */
const BLOCK_BYTES = 1024 * 1024;
const FIRST_BLOCK_BYTES = 16 * 1024;

/**
 * The bytes of a body as they come. What comes in many pieces is copied into blocks: a piece of one byte would otherwise
 * keep a hundred bytes of its own and the whole buffer it was read into.
 */
export class BodyBytes {
  #only: Buffer | undefined;
  readonly #blocks: Buffer[] = [];
  #free = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(bytes: Buffer): void {
    const isFirst = this.#length === 0;
    this.#length += bytes.length;
    if (isFirst) {
      this.#only = bytes;
      return;
    }
    if (this.#only) this.#copy(this.#only);
    this.#only = undefined;
    this.#copy(bytes);
  }

  clear(): void {
    this.#only = undefined;
    this.#blocks.length = 0;
    this.#free = 0;
    this.#length = 0;
  }

  /** All bytes in one piece; other work runs while a large body is put together. */
  async joined(): Promise<Buffer> {
    if (this.#only) return this.#only;
    const [first] = this.#blocks;
    if (!first) return Buffer.alloc(0);
    if (this.#blocks.length === 1) return first.subarray(0, this.#length);
    const whole = Buffer.allocUnsafeSlow(this.#length);
    const turns = new Turns();
    await nextTurn(turns);
    for (let filled = 0; filled < this.#length;) {
      const block = this.#blocks.shift();
      if (!block) break;
      filled += block.copy(whole, filled);
      if (turns.isOver) await nextTurn(turns);
    }
    return whole;
  }

  #copy(bytes: Buffer): void {
    for (let from = 0; from < bytes.length;) {
      if (this.#free === 0) this.#grow(bytes.length - from);
      const block = this.#blocks.at(-1);
      if (!block) return;
      const copied = bytes.copy(block, block.length - this.#free, from);
      this.#free -= copied;
      from += copied;
    }
  }

  #grow(atLeast: number): void {
    const next = Math.max(FIRST_BLOCK_BYTES, (this.#blocks.at(-1)?.length ?? 0) * 2, atLeast);
    const size = Math.min(BLOCK_BYTES, next);
    this.#blocks.push(Buffer.allocUnsafeSlow(size));
    this.#free = size;
  }
}
