import type { MediaLimits } from '#contracts';
import { brokenRule, megabytes } from './media-rules.js';

const MEBIBYTE = 1024 * 1024;
const limits = (bounds: Partial<MediaLimits>): MediaLimits => ({
  formats: ['png', 'mp4', 'mp3'],
  maxBytes: 1,
  ...bounds,
});
const image = (width: number, height: number) => ({ medium: 'image', format: 'png', width, height }) as const;
const video = (durationSeconds: number) =>
  ({ medium: 'video', format: 'mp4', width: 640, height: 360, durationSeconds, hasAudio: false }) as const;
const sound = (durationSeconds: number) => ({ medium: 'audio', format: 'mp3', durationSeconds }) as const;

describe('a rule that a file breaks is named with what was found and what is allowed', () => {
  it.each([
    [[127, 700], { minSidePixels: 128 }, 'each side must be at least 128.'],
    [[700, 127], { minSidePixels: 128 }, 'each side must be at least 128.'],
    [[700, 4_097], { maxSidePixels: 4_096 }, 'each side must be at most 4096.'],
    [[4_097, 700], { maxSidePixels: 4_096 }, 'each side must be at most 4096.'],
    [[800, 479], { minShortSidePixels: 480 }, 'its shorter side must be at least 480.'],
    [[721, 1_280], { maxShortSidePixels: 720 }, 'its shorter side must be at most 720.'],
    [[6_001, 6_000], { maxPixels: 36_000_000 }, 'it may have at most 36000000 pixels in all.'],
    [[990, 3_000], { ratio: { min: 1 / 3, max: 3 } }, 'its ratio of width to height must be from 1:3 to 3:1.'],
    [[128, 513], { ratio: { min: 1 / 4, max: 4 } }, 'its ratio of width to height must be from 1:4 to 4:1.'],
    [[803, 100], { ratio: { min: 1 / 8, max: 8 } }, 'its ratio of width to height must be from 1:8 to 8:1.'],
    [[803, 100], { ratio: { min: 0.4, max: 2.5 } }, 'its ratio of width to height must be from 1:2.5 to 2.5:1.'],
  ])('size %j under %j', ([width = 0, height = 0], bounds, rule) => {
    const sentence = `the image is ${width}x${height} pixels; ${rule}`;
    expect(brokenRule(image(width, height), limits(bounds))).toBe(sentence);
    expect(brokenRule({ ...video(5), width, height }, limits(bounds))).toBe(sentence.replace('image', 'video'));
  });

  it.each([
    [video(1.8), { minSeconds: 2 }, 'the video lasts 1.8 s; it must last at least 2 s.'],
    [video(10.2), { maxSeconds: 10 }, 'the video lasts 10.2 s; it may last at most 10 s.'],
    [sound(30.26), { maxSeconds: 30 }, 'the audio file lasts 30.26 s; it may last at most 30 s.'],
    [sound(16), { formats: ['wav', 'png', 'mp4'] }, 'the file is mp3; it must be wav, png or mp4.'],
    [sound(16), { formats: ['wav'] }, 'the file is mp3; it must be wav.'],
  ] as const)('%j under %j', (header, bounds, rule) => {
    expect(brokenRule(header, limits(bounds))).toBe(rule);
  });
});

describe('a file on the bound is kept', () => {
  it.each([
    [image(128, 128), { minSidePixels: 128 }],
    [image(4_096, 4_096), { maxSidePixels: 4_096 }],
    [image(480, 640), { minShortSidePixels: 480 }],
    [image(1_280, 720), { maxShortSidePixels: 720 }],
    [image(6_000, 6_000), { maxPixels: 36_000_000 }],
    [image(1_000, 3_000), { ratio: { min: 1 / 3, max: 3 } }],
    [image(3_000, 1_000), { ratio: { min: 1 / 3, max: 3 } }],
    [video(2), { minSeconds: 2, maxSeconds: 10 }],
    [video(10), { minSeconds: 2, maxSeconds: 10 }],
    // Containers round to whole frames.
    [video(1.95), { minSeconds: 2, maxSeconds: 10 }],
    [video(10.05), { minSeconds: 2, maxSeconds: 10 }],
    [sound(1e6), {}],
  ])('%j under %j', (header, bounds) => {
    expect(brokenRule(header, limits(bounds))).toBeUndefined();
  });
});

describe('words of the rules', () => {
  it('round megabytes', () => {
    expect([20 * MEBIBYTE, 1.5 * MEBIBYTE].map(megabytes)).toEqual(['20 MB', '1.5 MB']);
  });
});
