/** A WAV whose fields can be made to lie; by default 16-bit mono PCM at 8000 samples a second. */
export interface WavSample {
  /** Bytes of sound that are really there. */
  readonly soundBytes: number;
  /** Length that the data chunk claims; the real one by default. */
  readonly claimedBytes?: number;
  readonly tag?: number;
  readonly samplesPerSecond?: number;
  readonly bytesPerSecond?: number;
  readonly bytesPerBlock?: number;
}

export function wavSample(sample: WavSample): Buffer {
  const { soundBytes, claimedBytes = soundBytes, samplesPerSecond = 8_000 } = sample;
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + soundBytes, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(sample.tag ?? 1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(samplesPerSecond, 24);
  header.writeUInt32LE(sample.bytesPerSecond ?? samplesPerSecond * 2, 28);
  header.writeUInt16LE(sample.bytesPerBlock ?? 2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(claimedBytes, 40);
  return Buffer.concat([header, Buffer.alloc(soundBytes)]);
}

/** Bitrates of MPEG-1 layer III in kilobits a second, by their index in a frame header. */
const BITRATES = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];

/** Frames of 1152 samples at 44100 a second, one for each bitrate. */
export function mp3Sample(bitrates: readonly number[]): Buffer {
  return Buffer.concat(
    bitrates.map((bitrate) => {
      const frame = Buffer.alloc(Math.floor((144 * bitrate * 1_000) / 44_100));
      frame.writeUInt32BE((0xff_fb_00_c0 | (BITRATES.indexOf(bitrate) << 12)) >>> 0, 0);
      return frame;
    }),
  );
}

export function id3Sample(contentBytes: number, claimedBytes = contentBytes): Buffer {
  const sizes = [21, 14, 7, 0].map((shift) => (claimedBytes >>> shift) & 0x7f);
  return Buffer.concat([Buffer.from('ID3'), Buffer.from([4, 0, 0, ...sizes]), Buffer.alloc(contentBytes)]);
}
