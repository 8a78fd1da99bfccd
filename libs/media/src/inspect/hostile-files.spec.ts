import { deflateSync } from 'node:zlib';
import {
  videoSample,
  id3Sample,
  isoBox,
  jpegSample,
  jpegSegment,
  longs,
  movieSample,
  mp3Sample,
  mp4Brands,
  pngSample,
  wavSample,
  webpSample,
} from '#testing';
import { BlockSource, READ_BUDGET } from './byte-source.js';
import { inspectMedia } from './inspect-media.js';

/** Reads like a remote file, within the budget, and counts what was fetched of it and what was looked at. */
class CountedSource extends BlockSource {
  bytesFetched = 0;
  looks = 0;
  bytesLookedAt = 0;

  constructor(private readonly file: Buffer) {
    super(file.length);
  }

  override async read(start: number, end: number): Promise<Buffer> {
    const bytes = await super.read(start, end);
    this.looks += 1;
    this.bytesLookedAt += bytes.length;
    return bytes;
  }

  async *stream(start: number): AsyncIterable<Buffer> {
    for (let at = start; at < this.file.length; at += 65_536) {
      const bytes = this.file.subarray(at, at + 65_536);
      this.looks += 1;
      this.bytesLookedAt += bytes.length;
      yield bytes;
    }
  }

  protected async load(start: number, end: number): Promise<Buffer> {
    this.bytesFetched += end - start;
    return this.file.subarray(start, end);
  }
}

const HUGE = 0xffff_ffff;
const TAIL = isoBox('mdat', Buffer.alloc(64));

/** A header of a fragmented video and one fragment whose run claims so many samples. */
function fragmentedVideo(samples: number, fragments = 1): Buffer {
  const header = isoBox('tfhd', longs(0x02_00_08, 1, 512));
  const run = isoBox('trun', longs(0, samples));
  const fragment = Buffer.concat([
    isoBox('moof', isoBox('traf', header, isoBox('tfdt', longs(0, 0)), run)),
    isoBox('mdat', Buffer.alloc(16)),
  ]);
  const movie = movieSample({
    sampleTable: longs(0),
    moreBoxes: [isoBox('mvex', isoBox('trex', longs(0, 1, 1, 512, 0, 0)))],
  });
  return Buffer.concat([mp4Brands(), movie, ...Array.from({ length: fragments }, () => fragment)]);
}

/** Boxes inside boxes, each with its header only. */
function nested(depth: number, type: string): Buffer {
  const parts = Array.from({ length: depth }, (_, index) => [longs(8 * (depth - index)), Buffer.from(type)]).flat();
  parts[1] = Buffer.from('moov');
  return Buffer.concat([mp4Brands(), ...parts]);
}

const free = Buffer.from('\0\0\0\u0008free', 'latin1');
const CMOV = isoBox(
  'cmov',
  isoBox('dcom', Buffer.from('zlib')),
  isoBox('cmvd', longs(5e7), deflateSync(Buffer.alloc(5e7))),
);

/** What each file claims, and what the reader must say about it. Most of them stop common media libraries forever. */
const HOSTILE: readonly (readonly [claim: string, file: () => Buffer, expected: object])[] = [
  [
    '4 billion samples in one run of the length table',
    () => videoSample({ sampleTable: longs(1, HUGE, 1) }),
    { durationSeconds: HUGE / 1_000 },
  ],
  [
    '4 billion runs in the length table',
    () => videoSample({ sampleTable: longs(HUGE, 5, 1_000) }),
    { durationSeconds: 5 },
  ],
  ['a clock of 0 units a second', () => videoSample({ timescale: 0 }), { code: 'malformed' }],
  ['4 billion samples in a fragment', () => fragmentedVideo(HUGE), { medium: 'video' }],
  ['100 million samples in a fragment', () => fragmentedVideo(1e8), { medium: 'video' }],
  ['100,000 fragments', () => fragmentedVideo(1, 100_000), { code: 'budget' }],
  ['2,000 tracks', () => videoSample({ tracks: 2_000 }), { code: 'malformed' }],
  ['a movie header of 3 MB', () => videoSample({ moreBoxes: [isoBox('free', Buffer.alloc(3e6))] }), { code: 'budget' }],
  [
    'a movie header of 4 GB',
    () => Buffer.concat([mp4Brands(), longs(0xffff_fff0), Buffer.from('moov'), TAIL]),
    { code: 'malformed' },
  ],
  [
    '2 million boxes before the header',
    () => Buffer.concat([mp4Brands(), Buffer.alloc(16e6, free), movieSample()]),
    { code: 'budget' },
  ],
  ['boxes of size 3', () => Buffer.concat([mp4Brands(), longs(3), Buffer.from('moov'), TAIL]), { code: 'malformed' }],
  [
    'a 64-bit box of size 0',
    () => Buffer.concat([mp4Brands(), longs(1), Buffer.from('free'), longs(0, 0), TAIL]),
    { code: 'malformed' },
  ],
  ['20,000 boxes inside each other', () => nested(20_000, 'moov'), { code: 'malformed' }],
  ['20,000 tracks inside each other', () => nested(20_000, 'trak'), { code: 'malformed' }],
  [
    'a compressed header that unpacks to 50 MB',
    () => Buffer.concat([mp4Brands(), isoBox('moov', CMOV)]),
    { code: 'malformed' },
  ],
  [
    'a box larger than the box around it',
    () => Buffer.concat([mp4Brands(), isoBox('moov', longs(500), Buffer.from('mvhd'))]),
    { code: 'malformed' },
  ],
  [
    '20 MB of JPEG segments',
    () =>
      jpegSample({
        width: 1,
        height: 1,
        segments: Array.from({ length: 310 }, () => jpegSegment(0xe2, Buffer.alloc(65_533))),
      }),
    { code: 'budget' },
  ],
  [
    '2 million JPEG segments',
    () => jpegSample({ width: 1, height: 1, segments: [Buffer.alloc(8e6, Buffer.from([0xff, 0xe3, 0, 2]))] }),
    { code: 'malformed' },
  ],
  [
    '3 MB of JPEG fill bytes',
    () => Buffer.concat([Buffer.from([0xff, 0xd8]), Buffer.alloc(3e6, 0xff)]),
    { code: 'malformed' },
  ],
  [
    'a PNG of 2^31 - 1 by 2^31 - 1',
    () => pngSample({ width: 0x7fff_ffff, height: 0x7fff_ffff }),
    { width: 0x7fff_ffff },
  ],
  ['a WebP of 2^24 by 2^24', () => webpSample({ width: 1 << 24, height: 1 << 24 }), { width: 1 << 24 }],
  ['a WAV of 0 samples a second', () => wavSample({ soundBytes: 1_000, samplesPerSecond: 0 }), { code: 'malformed' }],
  ['a WAV of blocks without bytes', () => wavSample({ soundBytes: 1_000, bytesPerBlock: 0 }), { code: 'malformed' }],
  [
    'a WAV of 0 bytes a second',
    () => wavSample({ soundBytes: 1_000, tag: 2, bytesPerSecond: 0 }),
    { code: 'malformed' },
  ],
  [
    'an MP3 tag of 256 MB',
    () => Buffer.concat([id3Sample(0, 0x0fff_ffff), mp3Sample([128, 128])]),
    { code: 'malformed' },
  ],
  ['4 MB of MP3 frame marks', () => Buffer.alloc(4e6, Buffer.from([0xff, 0xfb, 0x90, 0x00])), { code: 'unsupported' }],
  [
    '15 MB of silence behind an MP3 tag',
    () => Buffer.concat([id3Sample(0), Buffer.alloc(15e6)]),
    { code: 'unsupported' },
  ],
];

/** The dearest of the files below takes about 2,000 looks, or 0.6 MB of one header. */
const MOST = { looks: 4_096, bytesLookedAt: 1024 * 1024 } as const;

// Counted, not timed: how long it takes belongs to the machine, how much there is to do to the code. A loop over
// what a file merely claims, 4 billion samples say, never ends before Jest gives up.
describe('a hostile file is rejected after few bytes and few reads of them', () => {
  it.each(HOSTILE)('that claims %s', async (_claim, make, expected) => {
    const source = new CountedSource(make());
    expect(await inspectMedia(source).catch((error: unknown) => error)).toMatchObject(expected);
    expect(source.bytesFetched).toBeLessThanOrEqual(READ_BUDGET.bytes);
    expect(source.looks).toBeLessThanOrEqual(MOST.looks);
    expect(source.bytesLookedAt).toBeLessThanOrEqual(MOST.bytesLookedAt);
  });
});
