/** Big-endian 32-bit numbers in a row; negative ones wrap around. */
export const longs = (...values: number[]): Buffer => {
  const buffer = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) buffer.writeUInt32BE(value >>> 0, index * 4);
  return buffer;
};

/** A box of the ISO base media format. */
export function isoBox(type: string, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([longs(body.length + 8), Buffer.from(type, 'latin1'), body]);
}

/** The file type box of an MP4. */
export const mp4Brands = (): Buffer => isoBox('ftyp', Buffer.from('isom'), longs(512), Buffer.from('isomiso2avc1mp41'));

/** A video whose header can be made to lie; by default 5 s of 640x360 at 1000 units a second. */
export interface VideoSample {
  readonly width?: number;
  readonly height?: number;
  readonly timescale?: number;
  /** Content of the sample length table behind version and flags: a count, then pairs of count and length. */
  readonly sampleTable?: Buffer;
  /** Boxes put into the movie header behind the track. */
  readonly moreBoxes?: readonly Buffer[];
  readonly tracks?: number;
}

/** The movie header of a video with one or more image tracks. */
export function movieSample(sample: VideoSample = {}): Buffer {
  const { timescale = 1_000, moreBoxes = [], tracks = 1 } = sample;
  const header = isoBox('mvhd', longs(0, 0, 0, timescale, 5_000), Buffer.alloc(80));
  const track = trackSample(sample);
  return isoBox('moov', header, ...Array.from({ length: tracks }, () => track), ...moreBoxes);
}

/** A whole small video: brands, header and a little data. */
export const videoSample = (sample: VideoSample = {}): Buffer =>
  Buffer.concat([mp4Brands(), movieSample(sample), isoBox('mdat', Buffer.alloc(64))]);

function trackSample({
  width = 640,
  height = 360,
  timescale = 1_000,
  sampleTable = longs(1, 5, 1_000),
}: VideoSample): Buffer {
  const identity = longs(0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000);
  const trackHeader = isoBox(
    'tkhd',
    longs(0, 0, 0, 1, 0, 5_000, 0, 0, 0, 0),
    identity,
    longs(width << 16, height << 16),
  );
  const size = Buffer.alloc(4);
  size.writeUInt16BE(width, 0);
  size.writeUInt16BE(height, 2);
  const description = isoBox('stsd', longs(0, 1), isoBox('avc1', Buffer.alloc(24), size, Buffer.alloc(50)));
  const samples = isoBox('stbl', description, isoBox('stts', longs(0), sampleTable));
  const handler = isoBox('hdlr', longs(0, 0), Buffer.from('vide'), Buffer.alloc(12));
  const mediaHeader = isoBox('mdhd', longs(0, 0, 0, timescale, 5_000, 0));
  return isoBox('trak', trackHeader, isoBox('mdia', mediaHeader, handler, isoBox('minf', samples)));
}
