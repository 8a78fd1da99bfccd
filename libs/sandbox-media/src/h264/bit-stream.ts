/** Writes syntax elements bit by bit, the most significant first, as H.264 codes them (ITU-T H.264, 7.2 and 9.1). */
export class BitWriter {
  private bytes: Uint8Array;
  private length = 0;
  private partialByte = 0;
  private partialBits = 0;

  constructor(expectedBytes = 64) {
    this.bytes = new Uint8Array(expectedBytes);
  }

  /** A number of fixed width, `u(n)`: `value` fits into `bits`, which are 32 at most. */
  fixed(value: number, bits: number): this {
    for (let position = bits - 1; position >= 0; position--) {
      this.partialByte = (this.partialByte << 1) | ((value >>> position) & 1);
      if (++this.partialBits === 8) this.pushPartialByte();
    }
    return this;
  }

  /** One bit, `u(1)`. */
  flag(set: boolean): this {
    return this.fixed(set ? 1 : 0, 1);
  }

  /** An unsigned number of any size, `ue(v)`: as many zeros as value + 1 has bits after its first, then value + 1. */
  unsignedExpGolomb(value: number): this {
    const bits = 31 - Math.clz32(value + 1);
    return this.fixed(0, bits).fixed(value + 1, bits + 1);
  }

  /** A signed number, `se(v)`: 0, 1, -1, 2, -2 ... are numbered 0, 1, 2, 3, 4 ... and written as `ue(v)`. */
  signedExpGolomb(value: number): this {
    return this.unsignedExpGolomb(value > 0 ? 2 * value - 1 : -2 * value);
  }

  /** Fills the byte in progress with zeros, so that whole bytes can follow. */
  alignWithZeros(): this {
    return this.partialBits === 0 ? this : this.fixed(0, 8 - this.partialBits);
  }

  /** The end of every payload: a one, then zeros to the byte's end (`rbsp_trailing_bits`). */
  trailingBits(): this {
    return this.fixed(1, 1).alignWithZeros();
  }

  /** Copies whole bytes; the writer must be at the start of a byte. */
  append(source: Uint8Array, start: number, end: number): this {
    this.reserve(end - start);
    this.bytes.set(source.subarray(start, end), this.length);
    this.length += end - start;
    return this;
  }

  /** What was written so far, without an unfinished byte. */
  toBytes(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  private pushPartialByte(): void {
    this.reserve(1);
    this.bytes[this.length++] = this.partialByte;
    this.partialByte = 0;
    this.partialBits = 0;
  }

  private reserve(extraBytes: number): void {
    if (this.length + extraBytes <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(this.bytes.length * 2, this.length + extraBytes));
    larger.set(this.bytes);
    this.bytes = larger;
  }
}

/**
 * First byte of each kind of NAL unit: `nal_ref_idc` 3 (others may depend on it), then `nal_unit_type`
 * (ITU-T H.264, 7.4.1).
 */
const NAL_UNIT_HEADERS = {
  dependentSlice: 0x61,
  keyFrameSlice: 0x65,
  sequenceParameterSet: 0x67,
  pictureParameterSet: 0x68,
} as const;
type NalUnitKind = keyof typeof NAL_UNIT_HEADERS;

/**
 * Wraps a payload as a NAL unit. Two zero bytes followed by 0, 1, 2 or 3 would look like a start code, so a 3 is put
 * between them (ITU-T H.264, 7.4.1.1); decoders take it out again.
 */
export function nalUnit(kind: NalUnitKind, payload: Uint8Array): Uint8Array {
  const protectedAt = lookAlikes(payload);
  const unit = new Uint8Array(1 + payload.length + protectedAt.length);
  unit[0] = NAL_UNIT_HEADERS[kind];
  let copiedTo = 0;
  let written = 1;
  for (const position of protectedAt) {
    unit.set(payload.subarray(copiedTo, position), written);
    written += position - copiedTo;
    unit[written++] = 3;
    copiedTo = position;
  }
  unit.set(payload.subarray(copiedTo), written);
  return unit;
}

/** Positions of bytes that, after two zeros, would be read as a start code. */
function lookAlikes(payload: Uint8Array): number[] {
  const positions: number[] = [];
  let zeros = 0;
  for (let position = 0; position < payload.length; position++) {
    const byte = payload[position] ?? 0;
    if (zeros >= 2 && byte <= 3) {
      positions.push(position);
      zeros = 0;
    }
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return positions;
}
