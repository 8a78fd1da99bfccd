/** A decoded frame in YUV 4:2:0, cropped to its true size. */
export interface DecodedFrame {
  readonly luma: Uint8Array;
  readonly blueDifference: Uint8Array;
  readonly redDifference: Uint8Array;
}

/** Fields of the sequence parameter set. */
export interface SequenceParameters {
  readonly profile: number;
  readonly level: number;
  readonly macroblocksWide: number;
  readonly macroblocksHigh: number;
  readonly width: number;
  readonly height: number;
}

/** Reads what H.264 calls RBSP: a NAL unit without its header and without the bytes that avoid start codes. */
class BitReader {
  private at = 0;
  private readonly source: Buffer;

  constructor(nalUnit: Uint8Array) {
    const payload = Buffer.alloc(nalUnit.length);
    let length = 0;
    for (let at = 1; at < nalUnit.length; at++) {
      const escaped = nalUnit[at] === 3 && at > 2 && nalUnit[at - 1] === 0 && nalUnit[at - 2] === 0;
      if (!escaped) payload[length++] = nalUnit[at] ?? 0;
    }
    this.source = payload.subarray(0, length);
  }

  bits(count: number): number {
    let value = 0;
    for (let bit = 0; bit < count; bit++, this.at++) {
      value = value * 2 + (((this.source[this.at >> 3] ?? 0) >> (7 - (this.at & 7))) & 1);
    }
    return value;
  }

  golomb(): number {
    let zeros = 0;
    while (this.bits(1) === 0) if (++zeros > 32) throw new Error('an Exp-Golomb code does not end');
    return 2 ** zeros - 1 + this.bits(zeros);
  }

  expect(value: number, read: number, name: string): void {
    if (value !== read) throw new Error(`${name} is ${read}, the sandbox writes ${value}`);
  }

  bytes(count: number): Uint8Array {
    while (this.at % 8 !== 0) this.expect(0, this.bits(1), 'pcm_alignment_zero_bit');
    const start = this.at / 8;
    this.at += count * 8;
    return this.source.subarray(start, start + count);
  }

  /** Whether payload is left before the final one and its zeros. */
  hasMore(): boolean {
    const last = this.source.length - 1;
    const trailingZeros = 31 - Math.clz32((this.source[last] ?? 0) & -(this.source[last] ?? 0));
    return this.at < last * 8 + 7 - trailingZeros;
  }
}

/** @throws Error when a field differs from what the sandbox's streams hold, or the usability part does not end cleanly. */
export function readSequenceParameters(nalUnit: Uint8Array): SequenceParameters {
  const reader = new BitReader(nalUnit);
  const profile = reader.bits(8);
  reader.expect(0b1100_0000, reader.bits(8), 'constraint flags');
  const level = reader.bits(8);
  for (const [name, value] of [
    ['seq_parameter_set_id', 0],
    ['log2_max_frame_num_minus4', 12],
    ['pic_order_cnt_type', 2],
    ['max_num_ref_frames', 1],
  ] as const) {
    reader.expect(value, reader.golomb(), name);
  }
  reader.expect(0, reader.bits(1), 'gaps_in_frame_num_value_allowed_flag');
  const macroblocksWide = reader.golomb() + 1;
  const macroblocksHigh = reader.golomb() + 1;
  reader.expect(0b11, reader.bits(2), 'frame_mbs_only_flag, direct_8x8_inference_flag');
  const [left, right, top, bottom] = reader.bits(1)
    ? [reader.golomb(), reader.golomb(), reader.golomb(), reader.golomb()]
    : [0, 0, 0, 0];
  const width = macroblocksWide * 16 - 2 * ((left ?? 0) + (right ?? 0));
  const height = macroblocksHigh * 16 - 2 * ((top ?? 0) + (bottom ?? 0));
  return { profile, level, macroblocksWide, macroblocksHigh, width, height };
}

/**
 * Decodes the subset of H.264 that the sandbox writes (I_PCM, Intra_16x16 vertical and horizontal without residual, P_Skip),
 * written from the standard and independent of the encoder.
 */
export class LosslessDecoder {
  readonly parameters: SequenceParameters;
  /** How many macroblocks were coded in each way so far. */
  readonly counts = { skipped: 0, copied: 0, raw: 0 };
  private readonly planes: readonly {
    readonly samples: Uint8Array;
    readonly stride: number;
    readonly square: number;
  }[];
  private readonly coefficients: Uint8Array;
  private expectedFrameNumber = 0;

  constructor(sequenceParameterSet: Uint8Array) {
    this.parameters = readSequenceParameters(sequenceParameterSet);
    const { macroblocksWide, macroblocksHigh } = this.parameters;
    this.coefficients = new Uint8Array(macroblocksWide * macroblocksHigh);
    this.planes = [16, 8, 8].map((square) => ({
      samples: new Uint8Array(macroblocksWide * macroblocksHigh * square * square),
      stride: macroblocksWide * square,
      square,
    }));
  }

  /** @throws Error on anything outside the subset, and when macroblocks are missing or left over. */
  decode(nalUnit: Uint8Array): DecodedFrame {
    const keyFrame = (nalUnit[0] ?? 0) % 32 === 5;
    const reader = new BitReader(nalUnit);
    this.readSliceHeader(reader, keyFrame);
    this.coefficients.fill(0);
    let macroblock = 0;
    while (reader.hasMore()) {
      if (!keyFrame) {
        const skipped = reader.golomb();
        this.counts.skipped += skipped;
        macroblock += skipped;
        if (!reader.hasMore()) break;
      }
      this.readMacroblock(reader, macroblock++, keyFrame ? 0 : 5);
    }
    if (macroblock !== this.coefficients.length)
      throw new Error(`${macroblock} of ${this.coefficients.length} macroblocks`);
    const [luma, blueDifference, redDifference] = [this.cropped(0), this.cropped(1), this.cropped(2)];
    return { luma, blueDifference, redDifference };
  }

  private readSliceHeader(reader: BitReader, keyFrame: boolean): void {
    reader.expect(0, reader.golomb(), 'first_mb_in_slice');
    reader.expect(keyFrame ? 7 : 5, reader.golomb(), 'slice_type');
    reader.expect(0, reader.golomb(), 'pic_parameter_set_id');
    if (keyFrame) this.expectedFrameNumber = 0;
    reader.expect(this.expectedFrameNumber++ % 65_536, reader.bits(16), 'frame_num');
    if (keyFrame) reader.expect(0, reader.golomb(), 'idr_pic_id');
    reader.expect(0, reader.bits(keyFrame ? 2 : 3), 'reference flags');
    reader.expect(0, reader.golomb(), 'slice_qp_delta');
    reader.expect(1, reader.golomb(), 'disable_deblocking_filter_idc');
  }

  private readMacroblock(reader: BitReader, macroblock: number, typeOffset: number): void {
    const type = reader.golomb() - typeOffset;
    const column = macroblock % this.parameters.macroblocksWide;
    const row = Math.floor(macroblock / this.parameters.macroblocksWide);
    if (type === 25) {
      this.counts.raw++;
      this.coefficients[macroblock] = 16;
      this.eachRow(column, row, (samples, start, square) => samples.set(reader.bytes(square), start));
      return;
    }
    if (type !== 1 && type !== 2) throw new Error(`macroblock type ${type} is outside the subset`);
    this.counts.copied++;
    const fromAbove = type === 1;
    if (fromAbove ? row === 0 : column === 0) throw new Error('copies from outside the image');
    reader.expect(fromAbove ? 2 : 1, reader.golomb(), 'intra_chroma_pred_mode');
    reader.expect(0, reader.golomb(), 'mb_qp_delta');
    const few = this.meanOfNeighbours(macroblock, column, row) < 2;
    reader.expect(few ? 1 : 0b000011, reader.bits(few ? 1 : 6), 'coeff_token');
    this.eachRow(column, row, (samples, start, square, stride) => {
      if (fromAbove) samples.copyWithin(start, start - stride, start - stride + square);
      else samples.fill(samples[start - 1] ?? 0, start, start + square);
    });
  }

  private meanOfNeighbours(macroblock: number, column: number, row: number): number {
    const neighbours = [
      ...(column > 0 ? [this.coefficients[macroblock - 1] ?? 0] : []),
      ...(row > 0 ? [this.coefficients[macroblock - this.parameters.macroblocksWide] ?? 0] : []),
    ];
    return Math.ceil(neighbours.reduce((sum, count) => sum + count, 0) / Math.max(1, neighbours.length));
  }

  private eachRow(
    column: number,
    row: number,
    visit: (samples: Uint8Array, start: number, square: number, stride: number) => void,
  ): void {
    for (const { samples, stride, square } of this.planes) {
      for (let y = 0; y < square; y++) visit(samples, (row * square + y) * stride + column * square, square, stride);
    }
  }

  private cropped(plane: number): Uint8Array {
    const { samples = new Uint8Array(), stride = 0, square = 16 } = this.planes[plane] ?? {};
    const width = (this.parameters.width * square) / 16;
    const height = (this.parameters.height * square) / 16;
    const cropped = new Uint8Array(width * height);
    for (let y = 0; y < height; y++) cropped.set(samples.subarray(y * stride, y * stride + width), y * width);
    return cropped;
  }
}
