import { BitWriter, nalUnit } from './bit-stream.js';
import {
  FRAME_NUMBER_BITS,
  type VideoFormat,
  macroblocks,
  pictureParameterSet,
  sequenceParameterSet,
} from './parameter-sets.js';
import type { Plane, YuvFrame } from './yuv-frame.js';

/** How a macroblock copies its neighbour's edge: the numbers of 16x16 luma and of chroma prediction differ. */
const COPY_FROM_ABOVE = { luma: 0, chroma: 2 } as const;
const COPY_FROM_LEFT = { luma: 1, chroma: 1 } as const;
type EdgeCopy = typeof COPY_FROM_ABOVE | typeof COPY_FROM_LEFT;

/** `mb_type` numbers in a key frame; in a dependent frame they follow the five inter types (table 7-13). */
const FIRST_INTRA_16X16 = 1;
const RAW_SAMPLES = 25;
const INTER_TYPES = 5;

/** What neighbours take as the count of coefficients of a raw macroblock (9.2.1). */
const COEFFICIENTS_OF_RAW = 16;

/**
 * A lossless H.264 encoder for synthetic images. It needs no transform and no rate control, because each macroblock
 * (16x16 pixels) is one of three things:
 *
 * - **skipped** (P_Skip): equal to the frame before. An unchanged frame costs about twelve bytes.
 * - **copied** (Intra_16x16 without residual): every row repeats the row above the square, or every column the column
 *   left of it. Flat areas and straight edges cost about ten bits.
 * - **raw** (I_PCM): 384 bytes of samples, so that any image can be coded. The worst frame is width * height * 1.5 bytes.
 *
 * The deblocking filter is off, so a decoder returns exactly the samples that went in.
 */
export class LosslessEncoder {
  readonly sequenceParameterSet: Uint8Array;
  readonly pictureParameterSet = pictureParameterSet();
  private readonly wide: number;
  private readonly high: number;
  /** For each macroblock of the current frame, the coefficients its neighbours believe it has. */
  private readonly coefficients: Uint8Array;
  private frameNumber = 0;

  /** @throws RangeError when a side is odd or the size is beyond level 5.2. */
  constructor(format: VideoFormat) {
    this.sequenceParameterSet = sequenceParameterSet(format);
    this.wide = macroblocks(format.width);
    this.high = macroblocks(format.height);
    this.coefficients = new Uint8Array(this.wide * this.high);
  }

  /** Codes a frame that depends on no other. The first frame of a video must be one. */
  encodeKeyFrame(frame: YuvFrame): Uint8Array {
    this.frameNumber = 0;
    const writer = new BitWriter(65_536);
    this.writeSliceHeader(writer, true);
    this.coefficients.fill(0);
    for (let index = 0; index < this.coefficients.length; index++) this.writeMacroblock(writer, frame, index, 0);
    this.frameNumber++;
    return nalUnit('keyFrameSlice', writer.trailingBits().toBytes());
  }

  /**
   * Codes a frame that equals the previous one except in the macroblocks marked with 1 in `changed` (row by row).
   * Marking too many is allowed and costs only space.
   */
  encodeChanges(frame: YuvFrame, changed: Uint8Array): Uint8Array {
    const writer = new BitWriter(256);
    this.writeSliceHeader(writer, false);
    this.coefficients.fill(0);
    let next = 0;
    for (let index = changed.indexOf(1); index !== -1; index = changed.indexOf(1, next)) {
      writer.unsignedExpGolomb(index - next); // mb_skip_run
      this.writeMacroblock(writer, frame, index, INTER_TYPES);
      next = index + 1;
    }
    if (next < changed.length) writer.unsignedExpGolomb(changed.length - next);
    this.frameNumber++;
    return nalUnit('dependentSlice', writer.trailingBits().toBytes());
  }

  /** ITU-T H.264, 7.3.3: one slice covers the whole image. */
  private writeSliceHeader(writer: BitWriter, keyFrame: boolean): void {
    writer
      .unsignedExpGolomb(0) // first_mb_in_slice
      .unsignedExpGolomb(keyFrame ? 7 : 5) // slice_type: all I, or all P
      .unsignedExpGolomb(0) // pic_parameter_set_id
      .fixed(this.frameNumber % 2 ** FRAME_NUMBER_BITS, FRAME_NUMBER_BITS);
    if (keyFrame) {
      writer
        .unsignedExpGolomb(0) // idr_pic_id
        .flag(false) // no_output_of_prior_pics
        .flag(false); // long_term_reference
    } else {
      writer
        .flag(false) // num_ref_idx_active_override
        .flag(false) // ref_pic_list_modification_l0
        .flag(false); // adaptive_ref_pic_marking_mode: the newest frame replaces the reference
    }
    writer
      .signedExpGolomb(0) // slice_qp_delta
      .unsignedExpGolomb(1); // disable_deblocking_filter_idc: off
  }

  private writeMacroblock(writer: BitWriter, frame: YuvFrame, index: number, typeOffset: number): void {
    const column = index % this.wide;
    const row = (index - column) / this.wide;
    const copy = findEdgeCopy(frame, column, row);
    if (copy) {
      writer
        .unsignedExpGolomb(typeOffset + FIRST_INTRA_16X16 + copy.luma)
        .unsignedExpGolomb(copy.chroma)
        .signedExpGolomb(0); // mb_qp_delta
      this.writeNoCoefficients(writer, index, column, row);
      return;
    }
    this.coefficients[index] = COEFFICIENTS_OF_RAW;
    writer.unsignedExpGolomb(typeOffset + RAW_SAMPLES).alignWithZeros();
    for (const plane of frame.planes) appendSquare(writer, plane, column, row);
  }

  /**
   * "No luma DC coefficients" as `coeff_token` (table 9-5). Its code depends on how many the neighbours have: here 0 or 16,
   * so their rounded mean is below 2 or at least 8.
   */
  private writeNoCoefficients(writer: BitWriter, index: number, column: number, row: number): void {
    const left = column > 0 ? this.coefficients[index - 1] : undefined;
    const above = row > 0 ? this.coefficients[index - this.wide] : undefined;
    const expected = left !== undefined && above !== undefined ? (left + above + 1) >> 1 : (left ?? above ?? 0);
    if (expected < 2) writer.fixed(0b1, 1);
    else writer.fixed(0b000011, 6);
  }
}

function findEdgeCopy(frame: YuvFrame, column: number, row: number): EdgeCopy | undefined {
  if (row > 0 && frame.planes.every((plane) => repeatsRowAbove(plane, column, row))) return COPY_FROM_ABOVE;
  if (column > 0 && frame.planes.every((plane) => repeatsColumnLeft(plane, column, row))) return COPY_FROM_LEFT;
  return undefined;
}

function repeatsRowAbove({ samples, stride, square }: Plane, column: number, row: number): boolean {
  const above = (row * square - 1) * stride + column * square;
  for (let y = 1; y <= square; y++) {
    const start = above + y * stride;
    for (let x = 0; x < square; x++) if (samples[start + x] !== samples[above + x]) return false;
  }
  return true;
}

function repeatsColumnLeft({ samples, stride, square }: Plane, column: number, row: number): boolean {
  for (let y = 0; y < square; y++) {
    const start = (row * square + y) * stride + column * square;
    const left = samples[start - 1];
    for (let x = 0; x < square; x++) if (samples[start + x] !== left) return false;
  }
  return true;
}

function appendSquare(writer: BitWriter, { samples, stride, square }: Plane, column: number, row: number): void {
  for (let y = 0; y < square; y++) {
    const start = (row * square + y) * stride + column * square;
    writer.append(samples, start, start + square);
  }
}
