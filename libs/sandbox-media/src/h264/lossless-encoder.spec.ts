import { createHash } from 'node:crypto';
import { type DecodedFrame, LosslessDecoder } from '../testing/lossless-decoder.js';
import { BitWriter, nalUnit } from './bit-stream.js';
import { LosslessEncoder } from './lossless-encoder.js';
import { lowestLevel } from './parameter-sets.js';
import { YuvFrame } from './yuv-frame.js';

/** Numbers that look random and are the same in every run. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 8;
  };
}

/** Fills a macroblock with noise, one colour, or what its neighbour ends with, so that every way of coding is used. */
function scribble(frame: YuvFrame, macroblock: number, next: () => number): void {
  const column = macroblock % frame.macroblocksWide;
  const row = Math.floor(macroblock / frame.macroblocksWide);
  const manner = next() % 4;
  const flat = 16 + (next() % 200);
  for (const { samples, stride, square } of frame.planes) {
    for (let y = 0; y < square; y++) {
      for (let x = 0; x < square; x++) {
        const at = (row * square + y) * stride + column * square + x;
        if (manner === 0) samples[at] = 16 + (next() % 220);
        else if (manner === 1 && row > 0) samples[at] = samples[at - stride] ?? 0;
        else if (manner === 2 && column > 0) samples[at] = samples[at - 1] ?? 0;
        else samples[at] = flat;
      }
    }
  }
}

/** A short name of a frame's samples: equal exactly when all samples are. */
function fingerprint({ luma, blueDifference, redDifference }: DecodedFrame): string {
  return createHash('sha256').update(luma).update(blueDifference).update(redDifference).digest('hex');
}

/** The fingerprint of a frame as it went in, without its padding. */
function fingerprintOf(frame: YuvFrame): string {
  const crop = ({ samples, stride, square }: YuvFrame['luma']): Uint8Array => {
    const rows = Array.from({ length: (frame.height * square) / 16 }, (_, y) =>
      samples.subarray(y * stride, y * stride + (frame.width * square) / 16),
    );
    return Buffer.concat(rows);
  };
  const { luma, blueDifference, redDifference } = frame;
  return fingerprint({ luma: crop(luma), blueDifference: crop(blueDifference), redDifference: crop(redDifference) });
}

describe('LosslessEncoder', () => {
  it.each([
    [16, 16],
    [34, 50],
    [62, 18],
    [130, 96],
    [176, 144],
    [250, 66],
    [320, 242],
  ])('gives back every sample of random images and random changes at %i x %i', (width, height) => {
    const next = numbersFrom(width * 1000 + height);
    const encoder = new LosslessEncoder({ width, height, framesPerSecond: 24 });
    const decoder = new LosslessDecoder(encoder.sequenceParameterSet);
    const frame = new YuvFrame(width, height);
    const macroblocks = frame.macroblocksWide * frame.macroblocksHigh;
    for (let macroblock = 0; macroblock < macroblocks; macroblock++) scribble(frame, macroblock, next);
    expect(fingerprint(decoder.decode(encoder.encodeKeyFrame(frame)))).toBe(fingerprintOf(frame));
    for (let frameNumber = 1; frameNumber < 12; frameNumber++) {
      const changed = Uint8Array.from({ length: macroblocks }, () => (next() % 5 === 0 ? 1 : 0));
      for (const [macroblock, marked] of changed.entries()) if (marked) scribble(frame, macroblock, next);
      expect(fingerprint(decoder.decode(encoder.encodeChanges(frame, changed)))).toBe(fingerprintOf(frame));
    }
    expect(Math.min(...Object.values(decoder.counts))).toBeGreaterThanOrEqual(macroblocks > 1 ? 1 : 0);
  });

  it('codes an unchanged frame in a dozen bytes, even at 3840x2160', () => {
    const encoder = new LosslessEncoder({ width: 3840, height: 2160, framesPerSecond: 24 });
    const frame = new YuvFrame(3840, 2160);
    encoder.encodeKeyFrame(frame);
    const unchanged = new Uint8Array(frame.macroblocksWide * frame.macroblocksHigh);
    expect(encoder.encodeChanges(frame, unchanged).length).toBeLessThanOrEqual(12);
  });

  it('starts numbering frames again at each key frame', () => {
    const encoder = new LosslessEncoder({ width: 32, height: 32, framesPerSecond: 24 });
    const decoder = new LosslessDecoder(encoder.sequenceParameterSet);
    const frame = new YuvFrame(32, 32);
    for (const code of ['key', 'changes', 'key', 'changes']) {
      const unit = code === 'key' ? encoder.encodeKeyFrame(frame) : encoder.encodeChanges(frame, new Uint8Array(4));
      expect(fingerprint(decoder.decode(unit))).toBe(fingerprintOf(frame));
    }
  });
});

describe('lowestLevel', () => {
  it.each([
    [832, 480, 30],
    [1280, 720, 31],
    [1920, 1088, 40],
    [1440, 1440, 40],
    [3840, 2160, 51],
    [2160, 3840, 51],
  ])('of %i x %i at 24 frames a second is %i / 10', (width, height, level) => {
    expect(lowestLevel(width / 16, height / 16, 24)).toBe(level);
  });
});

describe('BitWriter', () => {
  it.each([
    [0, '1'],
    [1, '010'],
    [2, '011'],
    [3, '00100'],
    [7, '0001000'],
    [254, '000000011111111'],
  ])('writes %i as the Exp-Golomb code %s', (value, code) => {
    const bytes = new BitWriter().unsignedExpGolomb(value).alignWithZeros().toBytes();
    const written = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
    expect(written).toBe(code.padEnd(Math.ceil(code.length / 8) * 8, '0'));
  });

  it.each([
    [0, 0],
    [1, 1],
    [-1, 2],
    [2, 3],
    [-2, 4],
  ])('numbers the signed value %i as %i', (value, number) => {
    const signed = new BitWriter().signedExpGolomb(value).trailingBits().toBytes();
    expect(signed).toEqual(new BitWriter().unsignedExpGolomb(number).trailingBits().toBytes());
  });

  it('writes numbers of 32 bits whole', () => {
    expect([...new BitWriter().fixed(0xffff_fffe, 32).toBytes()]).toEqual([255, 255, 255, 254]);
  });

  it('grows beyond the size it was given', () => {
    const writer = new BitWriter(1).fixed(7, 8).append(Uint8Array.of(1, 2, 3, 4, 5), 1, 4);
    expect([...writer.toBytes()]).toEqual([7, 2, 3, 4]);
  });
});

describe('nalUnit', () => {
  it.each([
    [
      [0, 0, 0],
      [0, 0, 3, 0],
    ],
    [
      [0, 0, 1],
      [0, 0, 3, 1],
    ],
    [
      [0, 0, 3, 0, 0, 2],
      [0, 0, 3, 3, 0, 0, 3, 2],
    ],
    [
      [0, 0, 4],
      [0, 0, 4],
    ],
    [
      [0, 0, 0, 0, 0],
      [0, 0, 3, 0, 0, 3, 0],
    ],
  ])('lets no payload look like a start code: %j', (payload, expected) => {
    expect([...nalUnit('dependentSlice', Uint8Array.from(payload))]).toEqual([0x61, ...expected]);
  });
});
