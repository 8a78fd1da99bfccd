import { AUDIO_CONFIGURATION, SAMPLES_PER_SECOND } from '../tones.js';
import { box, bytes, fixedPoint16, fullBox, latin1, uint16, uint32, zeros } from './box.js';

const BT_709 = 1;
const DOTS_PER_INCH = 72;
const COLOUR_DEPTH_BITS = 24;
const NO_COLOUR_TABLE = 0xffff;
const NAL_LENGTH_BYTES = 4;

/** Tags of MPEG-4 descriptors (ISO/IEC 14496-1, 7.2.2.1). */
const DESCRIPTORS = { elementaryStream: 3, decoderConfiguration: 4, decoderSpecific: 5, syncLayer: 6 } as const;
const AAC = 0x40;
const AUDIO_STREAM = 0x15;

/** The `avc1` entry: image size and the parameter sets a decoder starts with (ISO/IEC 14496-15, 5.4.2). */
export function avcSampleEntry(video: {
  readonly width: number;
  readonly height: number;
  readonly sequenceParameterSet: Uint8Array;
  readonly pictureParameterSet: Uint8Array;
}): Uint8Array {
  const { sequenceParameterSet, pictureParameterSet } = video;
  const configuration = box(
    'avcC',
    bytes(1),
    sequenceParameterSet.subarray(1, 4), // profile, compatibility, level
    bytes(0b1111_1100 | (NAL_LENGTH_BYTES - 1), 0b1110_0001),
    uint16(sequenceParameterSet.length),
    sequenceParameterSet,
    bytes(1),
    uint16(pictureParameterSet.length),
    pictureParameterSet,
  );
  const colours = box('colr', latin1('nclx'), uint16(BT_709, BT_709, BT_709), bytes(0));
  return box(
    'avc1',
    zeros(6),
    uint16(1), // data reference
    zeros(16),
    uint16(video.width, video.height),
    uint32(fixedPoint16(DOTS_PER_INCH), fixedPoint16(DOTS_PER_INCH), 0),
    uint16(1), // frames in a sample
    zeros(32), // compressor name
    uint16(COLOUR_DEPTH_BITS, NO_COLOUR_TABLE),
    configuration,
    colours,
  );
}

/** An AVC sample as files hold it: each NAL unit after its length instead of after a start code. */
export const avcSample = (nalUnit: Uint8Array): Uint8Array => Buffer.concat([uint32(nalUnit.length), nalUnit]);

/** The `mp4a` entry: mono AAC at 48 kHz, described once more inside an `esds` box. */
export function aacSampleEntry(): Uint8Array {
  const decoder = descriptor(
    DESCRIPTORS.decoderConfiguration,
    bytes(AAC, AUDIO_STREAM, 0, 0, 0),
    uint32(64_000, 64_000), // most and mean bits a second
    descriptor(DESCRIPTORS.decoderSpecific, AUDIO_CONFIGURATION),
  );
  const stream = descriptor(
    DESCRIPTORS.elementaryStream,
    uint16(0),
    bytes(0),
    decoder,
    descriptor(DESCRIPTORS.syncLayer, bytes(2)),
  );
  return box(
    'mp4a',
    zeros(6),
    uint16(1), // data reference
    zeros(8),
    uint16(1, 16, 0, 0), // channels, bits a sample
    uint32(fixedPoint16(SAMPLES_PER_SECOND)),
    fullBox('esds', 0, stream),
  );
}

/** Tag, length in four groups of seven bits, content; ours are shorter than 128 bytes. */
function descriptor(tag: number, ...content: readonly Uint8Array[]): Uint8Array {
  const length = content.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([bytes(tag, 0x80, 0x80, 0x80, length), ...content]);
}
