/** What the 4-byte header of an MPEG audio frame of layer III says. */
export interface Mp3Frame {
  readonly kilobitsPerSecond: number;
  readonly samplesPerSecond: number;
  readonly samples: number;
  /** Length of the whole frame in bytes; at least 24. */
  readonly bytes: number;
  /** Where an encoder's own index would begin inside the frame. */
  readonly indexOffset: number;
}

const BITRATES_MPEG1 = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const BITRATES_MPEG2 = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const SAMPLE_RATES = [44_100, 48_000, 32_000];

const VERSION_MPEG1 = 3;
const VERSION_MPEG2 = 2;
const VERSION_RESERVED = 1;
const LAYER_III = 1;
const MONO = 3;

/** Reads the frame header at an offset; nothing when there is none. */
export function readMp3Frame(bytes: Buffer, offset: number): Mp3Frame | undefined {
  if (offset + 4 > bytes.length) return undefined;
  const header = bytes.readUInt32BE(offset);
  // Eleven set bits mark a frame.
  if (header >>> 21 !== 0x7ff) return undefined;
  const version = (header >>> 19) & 3;
  const baseRate = SAMPLE_RATES[(header >>> 10) & 3];
  const kilobitsPerSecond = (version === VERSION_MPEG1 ? BITRATES_MPEG1 : BITRATES_MPEG2)[((header >>> 12) & 15) - 1];
  if (version === VERSION_RESERVED || ((header >>> 17) & 3) !== LAYER_III) return undefined;
  if (baseRate === undefined || kilobitsPerSecond === undefined) return undefined;
  const samplesPerSecond = baseRate / (version === VERSION_MPEG1 ? 1 : version === VERSION_MPEG2 ? 2 : 4);
  const samples = version === VERSION_MPEG1 ? 1_152 : 576;
  const padding = (header >>> 9) & 1;
  return {
    kilobitsPerSecond,
    samplesPerSecond,
    samples,
    bytes: Math.floor(((samples / 8) * kilobitsPerSecond * 1_000) / samplesPerSecond) + padding,
    indexOffset: 4 + sideInformationBytes(version === VERSION_MPEG1, ((header >>> 6) & 3) === MONO),
  };
}

function sideInformationBytes(mpeg1: boolean, mono: boolean): number {
  if (mpeg1) return mono ? 17 : 32;
  return mono ? 9 : 17;
}
