import { BitWriter, nalUnit } from './bit-stream.js';

/** What a decoder of each level must cope with (ITU-T H.264, table A-1): macroblocks in a second and in a frame. */
const LEVELS = [
  { level: 10, macroblocksPerSecond: 1_485, macroblocksPerFrame: 99 },
  { level: 11, macroblocksPerSecond: 3_000, macroblocksPerFrame: 396 },
  { level: 12, macroblocksPerSecond: 6_000, macroblocksPerFrame: 396 },
  { level: 13, macroblocksPerSecond: 11_880, macroblocksPerFrame: 396 },
  { level: 21, macroblocksPerSecond: 19_800, macroblocksPerFrame: 792 },
  { level: 22, macroblocksPerSecond: 20_250, macroblocksPerFrame: 1_620 },
  { level: 30, macroblocksPerSecond: 40_500, macroblocksPerFrame: 1_620 },
  { level: 31, macroblocksPerSecond: 108_000, macroblocksPerFrame: 3_600 },
  { level: 32, macroblocksPerSecond: 216_000, macroblocksPerFrame: 5_120 },
  { level: 40, macroblocksPerSecond: 245_760, macroblocksPerFrame: 8_192 },
  { level: 42, macroblocksPerSecond: 522_240, macroblocksPerFrame: 8_704 },
  { level: 50, macroblocksPerSecond: 589_824, macroblocksPerFrame: 22_080 },
  { level: 51, macroblocksPerSecond: 983_040, macroblocksPerFrame: 36_864 },
  { level: 52, macroblocksPerSecond: 2_073_600, macroblocksPerFrame: 36_864 },
] as const;

/**
 * The lowest level (times ten, as it is written into the stream) that allows a video of this size and speed.
 * A side may be as long as the square root of eight times the frame's macroblocks.
 *
 * @throws RangeError when not even level 5.2 (4096x2304 at 56 frames a second) allows it.
 */
export function lowestLevel(macroblocksWide: number, macroblocksHigh: number, framesPerSecond: number): number {
  const macroblocks = macroblocksWide * macroblocksHigh;
  const found = LEVELS.find(
    (candidate) =>
      macroblocks <= candidate.macroblocksPerFrame &&
      macroblocks * framesPerSecond <= candidate.macroblocksPerSecond &&
      Math.max(macroblocksWide, macroblocksHigh) <= Math.sqrt(8 * candidate.macroblocksPerFrame),
  );
  if (!found) {
    const size = `${macroblocksWide * 16}x${macroblocksHigh * 16}`;
    throw new RangeError(`${size} at ${framesPerSecond} frames a second is beyond H.264 level 5.2`);
  }
  return found.level;
}

/** The image size in pixels (both sides even) and the constant frame rate of a video. */
export interface VideoFormat {
  readonly width: number;
  readonly height: number;
  readonly framesPerSecond: number;
}

/** Bits of `frame_num` in slice headers; the sequence parameter set announces them. */
export const FRAME_NUMBER_BITS = 16;

const BASELINE_PROFILE = 66;
const BT_709 = 1;
const UNSPECIFIED_VIDEO_FORMAT = 5;

/** Sides in macroblocks: squares of 16x16 pixels, the last of a row or column padded. */
export const macroblocks = (pixels: number): number => Math.ceil(pixels / 16);

/**
 * The sequence parameter set: profile, size, and how a player shows it (ITU-T H.264, 7.3.2.1.1).
 * Constrained Baseline, one reference frame, output order is decoding order.
 *
 * @throws RangeError when a side is odd (colour is stored at half resolution) or no level allows the size.
 */
export function sequenceParameterSet(format: VideoFormat): Uint8Array {
  const { width, height, framesPerSecond } = format;
  if (width % 2 !== 0 || height % 2 !== 0) throw new RangeError(`a video of ${width}x${height} needs even sides`);
  const wide = macroblocks(width);
  const high = macroblocks(height);
  const writer = new BitWriter()
    .fixed(BASELINE_PROFILE, 8)
    .fixed(0b1100_0000, 8) // obeys the constraints of Baseline and of Main: Constrained Baseline
    .fixed(lowestLevel(wide, high, framesPerSecond), 8)
    .unsignedExpGolomb(0) // seq_parameter_set_id
    .unsignedExpGolomb(FRAME_NUMBER_BITS - 4)
    .unsignedExpGolomb(2) // pic_order_cnt_type: frames are shown in decoding order
    .unsignedExpGolomb(1) // max_num_ref_frames
    .flag(false) // gaps_in_frame_num_value_allowed
    .unsignedExpGolomb(wide - 1)
    .unsignedExpGolomb(high - 1)
    .flag(true) // frame_mbs_only: no interlacing
    .flag(true); // direct_8x8_inference
  writeCropping(writer, wide * 16 - width, high * 16 - height);
  writeVideoUsability(writer, framesPerSecond);
  return nalUnit('sequenceParameterSet', writer.trailingBits().toBytes());
}

/** Cuts the padding of the last macroblocks off, counted in pairs of pixels. */
function writeCropping(writer: BitWriter, rightPixels: number, bottomPixels: number): void {
  const cropped = rightPixels > 0 || bottomPixels > 0;
  writer.flag(cropped);
  if (!cropped) return;
  writer
    .unsignedExpGolomb(0)
    .unsignedExpGolomb(rightPixels / 2)
    .unsignedExpGolomb(0)
    .unsignedExpGolomb(bottomPixels / 2);
}

/** Video usability information: square pixels, BT.709 colours of limited range, constant frame rate (annex E). */
function writeVideoUsability(writer: BitWriter, framesPerSecond: number): void {
  writer
    .flag(true) // vui_parameters_present
    .flag(true) // aspect_ratio_info_present
    .fixed(1, 8) // square pixels
    .flag(false) // overscan_info_present
    .flag(true) // video_signal_type_present
    .fixed(UNSPECIFIED_VIDEO_FORMAT, 3)
    .flag(false) // video_full_range: luma is 16 to 235
    .flag(true) // colour_description_present
    .fixed(BT_709, 8) // colour primaries
    .fixed(BT_709, 8) // transfer characteristics
    .fixed(BT_709, 8) // matrix coefficients
    .flag(false) // chroma_loc_info_present
    .flag(true) // timing_info_present
    .fixed(1, 32) // num_units_in_tick
    .fixed(framesPerSecond * 2, 32) // time_scale: a frame lasts two ticks
    .flag(true) // fixed_frame_rate
    .flag(false) // nal_hrd_parameters_present
    .flag(false) // vcl_hrd_parameters_present
    .flag(false) // pic_struct_present
    .flag(true) // bitstream_restriction
    .flag(true) // motion_vectors_over_pic_boundaries
    .unsignedExpGolomb(0) // max_bytes_per_pic_denom: unlimited
    .unsignedExpGolomb(0) // max_bits_per_mb_denom: unlimited
    .unsignedExpGolomb(10) // log2_max_mv_length_horizontal
    .unsignedExpGolomb(10) // log2_max_mv_length_vertical
    .unsignedExpGolomb(0) // max_num_reorder_frames
    .unsignedExpGolomb(1); // max_dec_frame_buffering
}

/** The image parameter set: CAVLC coding, one slice an image, deblocking controlled by each slice (7.3.2.2). */
export function pictureParameterSet(): Uint8Array {
  const writer = new BitWriter()
    .unsignedExpGolomb(0) // pic_parameter_set_id
    .unsignedExpGolomb(0) // seq_parameter_set_id
    .flag(false) // entropy_coding_mode: CAVLC
    .flag(false) // bottom_field_pic_order_in_frame_present
    .unsignedExpGolomb(0) // num_slice_groups - 1
    .unsignedExpGolomb(0) // num_ref_idx_l0_default_active - 1
    .unsignedExpGolomb(0) // num_ref_idx_l1_default_active - 1
    .flag(false) // weighted_pred
    .fixed(0, 2) // weighted_bipred_idc
    .signedExpGolomb(0) // pic_init_qp - 26
    .signedExpGolomb(0) // pic_init_qs - 26
    .signedExpGolomb(0) // chroma_qp_index_offset
    .flag(true) // deblocking_filter_control_present
    .flag(false) // constrained_intra_pred: a square may copy from any neighbour
    .flag(false); // redundant_pic_cnt_present
  return nalUnit('pictureParameterSet', writer.trailingBits().toBytes());
}
