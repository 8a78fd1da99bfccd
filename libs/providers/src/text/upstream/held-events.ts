import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';

/** How many bytes of events are packed together. */
const BLOCK_BYTES = 64 * 1024;
/** The blocks that are kept, and the bytes that they may take: to read them all is to take few milliseconds. */
const BLOCKS_MAX = 8;
const PACKED_BYTES_MAX = 128 * 1024;

/** The quickest there is. Events of one stream are so alike that little is left of them. */
const QUICKLY = { params: { [constants.BROTLI_PARAM_QUALITY]: 0 } };

/**
 * Keeps events of a stream in case they must be read after all, which most need not: packing them takes a tenth of the time
 * of parsing them. What is too much to keep is read when more comes. All are read in the order in which they came.
 */
export class HeldEvents {
  #loose: Buffer[] = [];
  #looseBytes = 0;
  #packed: Buffer[] = [];
  #packedBytes = 0;

  /** `read` is given whole events, one or many. */
  constructor(private readonly read: (events: Buffer) => void) {}

  hold(events: Buffer): void {
    this.#loose.push(events);
    this.#looseBytes += events.length;
    if (this.#looseBytes < BLOCK_BYTES) return;
    // A picture, which packing would not make smaller.
    if (this.#looseBytes > PACKED_BYTES_MAX) return this.readAll();
    this.#pack();
    while (this.#packed.length > BLOCKS_MAX || this.#packedBytes > PACKED_BYTES_MAX) this.#readOldest();
  }

  readAll(): void {
    while (this.#packed.length > 0) this.#readOldest();
    const rest = this.#takeLoose();
    if (rest.length > 0) this.read(rest);
  }

  #pack(): void {
    const block = brotliCompressSync(this.#takeLoose(), QUICKLY);
    this.#packed.push(block);
    this.#packedBytes += block.length;
  }

  #readOldest(): void {
    const block = this.#packed.shift();
    if (!block) return;
    this.#packedBytes -= block.length;
    this.read(brotliDecompressSync(block));
  }

  #takeLoose(): Buffer {
    const events = Buffer.concat(this.#loose);
    this.#loose = [];
    this.#looseBytes = 0;
    return events;
  }
}
