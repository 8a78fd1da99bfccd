import { readFileSync } from 'node:fs';
import {
  videoSample,
  gifSample,
  id3Sample,
  isoBox,
  jpegSample,
  jpegSegment,
  mp3Sample,
  pngSample,
  wavSample,
  webpSample,
} from '#testing';
import { BufferSource } from './byte-source.js';
import { inspectMedia } from './inspect-media.js';

const inspect = (file: Buffer) => inspectMedia(new BufferSource(file));

/** Files made by ffmpeg 5.1, with the sizes and lengths that ffprobe names. */
const fixture = (name: string): Buffer => readFileSync(new URL(`fixtures/${name}`, import.meta.url));

describe('the header reader agrees with ffprobe', () => {
  it.each([
    ['image.png', 'png'],
    ['baseline.jpg', 'jpeg'],
    ['image.gif', 'gif'],
    ['lossy.webp', 'webp'],
    ['lossless.webp', 'webp'],
    ['extended.webp', 'webp'],
  ])('about the image %s', async (name, format) => {
    expect(await inspect(fixture(name))).toEqual({ medium: 'image', format, width: 100, height: 70 });
  });

  it.each([
    ['end-moov.mp4', { format: 'mp4', width: 96, height: 64, durationSeconds: 2.5, hasAudio: false }],
    ['faststart-audio.mp4', { format: 'mp4', width: 96, height: 64, durationSeconds: 2.5, hasAudio: true }],
    ['edited.mp4', { format: 'mp4', width: 96, height: 64, durationSeconds: 1.8, hasAudio: true }],
    ['rotated.mp4', { format: 'mp4', width: 64, height: 96, durationSeconds: 2.5, hasAudio: false }],
    ['fragments.mp4', { format: 'mp4', width: 96, height: 64, durationSeconds: 2.5, hasAudio: false }],
    ['one-index.mp4', { format: 'mp4', width: 96, height: 64, durationSeconds: 2.5, hasAudio: false }],
    ['index-per-fragment.mp4', { format: 'mp4', width: 96, height: 64, durationSeconds: 2.5, hasAudio: false }],
    ['quicktime.mov', { format: 'mov', width: 96, height: 64, durationSeconds: 2.5, hasAudio: false }],
  ])('about the video %s', async (name, expected) => {
    const { durationSeconds, ...rest } = expected;
    expect(await inspect(fixture(name))).toMatchObject({
      medium: 'video',
      ...rest,
      durationSeconds: expect.closeTo(durationSeconds, 2),
    });
  });

  it.each([
    ['cbr.mp3', 'mp3', 2.56],
    ['vbr-index.mp3', 'mp3', 2.064],
    // Without an index ffprobe only estimates; counting the frames gives the length of the same sound with one.
    ['vbr-no-index.mp3', 'mp3', 2.064],
    ['adpcm.wav', 'wav', 1.021],
  ])('about the sound %s', async (name, format, seconds) => {
    expect(await inspect(fixture(name))).toEqual({
      medium: 'audio',
      format,
      durationSeconds: expect.closeTo(seconds, 2),
    });
  });

  it.each([
    ['video.webm', 'is a WebM or Matroska video'],
    ['sound-only.mp4', 'has no image track'],
  ])('that %s is none of the supported types', async (name, message) => {
    await expect(inspect(fixture(name))).rejects.toMatchObject({ code: 'unsupported', message });
  });
});

describe('images', () => {
  const SIZE = { width: 1_000, height: 700 };

  it.each([
    ['png', pngSample(SIZE)],
    ['gif', gifSample(SIZE)],
    ['webp', webpSample(SIZE)],
    ['jpeg', jpegSample(SIZE)],
  ])('of type %s are measured from their first bytes alone', async (format, file) => {
    expect(await inspect(file)).toEqual({ medium: 'image', format, ...SIZE });
  });

  it.each([1, 2, 3, 4])('with EXIF orientation %d keep their sides', async (orientation) => {
    expect(await inspect(jpegSample({ ...SIZE, orientation }))).toMatchObject(SIZE);
  });

  it.each([5, 6, 7, 8])('with EXIF orientation %d are shown turned', async (orientation) => {
    expect(await inspect(jpegSample({ ...SIZE, orientation }))).toMatchObject({ width: 700, height: 1_000 });
  });

  it('are found behind a large colour profile', async () => {
    const segments = Array.from({ length: 12 }, () => jpegSegment(0xe2, Buffer.alloc(65_533)));
    expect(await inspect(jpegSample({ ...SIZE, orientation: 6, segments }))).toMatchObject({ width: 700 });
  });

  it.each([
    ['no width', pngSample({ width: 0, height: 1 })],
    ['an impossible width', pngSample({ width: 0xffff_ffff, height: 1 })],
    ['a PNG of another maker before its header', Buffer.from(pngSample(SIZE)).fill('CgBI', 12, 16)],
    ['data before a frame header', Buffer.concat([Buffer.from([0xff, 0xd8]), jpegSegment(0xda, Buffer.alloc(4))])],
    ['a segment of no length', Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, 0, 0, 0, 0, 0, 0])],
    ['no WebP chunk', Buffer.from('RIFF\0\0\0\0WEBPJUNK..................')],
  ])('with %s are refused as broken', async (_case, file) => {
    await expect(inspect(file)).rejects.toMatchObject({ code: 'malformed' });
  });

  it.each([
    ['png', pngSample(SIZE)],
    ['gif', gifSample(SIZE).subarray(0, 10)],
    ['webp', webpSample(SIZE)],
    ['jpeg', jpegSample({ ...SIZE, orientation: 6 })],
  ])('of type %s are refused wherever their header is cut', async (_format, file) => {
    const cuts = Array.from({ length: file.length - 1 }, (_, index) => inspect(file.subarray(0, index)));
    const outcomes = await Promise.allSettled(cuts);
    // The last byte of a frame header, the number of colours, does not matter.
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused).toHaveLength(cuts.length);
    expect(new Set(refused.map(({ reason }) => (reason as Error).name))).toEqual(new Set(['MediaUnreadable']));
  });
});

describe('videos', () => {
  it('are measured by the samples that their header lists', async () => {
    expect(await inspect(videoSample())).toMatchObject({ width: 640, height: 360, durationSeconds: 5 });
  });

  it('that lost their end are refused, wherever they were cut', async () => {
    for (const name of ['end-moov.mp4', 'faststart-audio.mp4', 'one-index.mp4', 'quicktime.mov']) {
      const file = fixture(name);
      for (const part of [0.3, 0.6, 0.9, 0.99])
        await expect(inspect(file.subarray(0, Math.floor(file.length * part)))).rejects.toMatchObject({
          code: 'malformed',
        });
    }
  });

  it('with a box that runs to the end of the file are read', async () => {
    const open = isoBox('mdat', Buffer.alloc(40));
    open.writeUInt32BE(0, 0);
    expect(await inspect(Buffer.concat([videoSample(), open]))).toMatchObject({ durationSeconds: 5 });
  });
});

describe('sounds', () => {
  it.each([
    ['announced', { soundBytes: 16_000 }, 1],
    ['of unknown length', { soundBytes: 32_000, claimedBytes: 0xffff_ffff }, 2],
    ['of a length never filled in', { soundBytes: 32_000, claimedBytes: 0 }, 2],
  ])('in a WAV, %s, are measured by the bytes that are there', async (_case, sample, seconds) => {
    expect(await inspect(wavSample(sample))).toMatchObject({ format: 'wav', durationSeconds: seconds });
  });

  it('in a WAV that lost its end are refused', async () => {
    await expect(inspect(wavSample({ soundBytes: 1_000, claimedBytes: 16_000 }))).rejects.toMatchObject({
      code: 'malformed',
      message: 'is cut off before its end',
    });
  });

  const SECOND_OF_FRAMES = Math.ceil(44_100 / 1_152);

  it('in an MP3 of one bitrate are measured by its size', async () => {
    const file = mp3Sample(Array.from({ length: SECOND_OF_FRAMES * 10 }, () => 128));
    expect(await inspect(file)).toMatchObject({ format: 'mp3', durationSeconds: expect.closeTo(10.2, 1) });
  });

  it('in an MP3 of changing bitrate without an index are measured frame by frame, across all chunks', async () => {
    const frames = Array.from({ length: SECOND_OF_FRAMES * 60 }, (_, index) => (index % 7 === 0 ? 320 : 32));
    const file = mp3Sample(frames);
    expect(await inspect(file)).toMatchObject({ durationSeconds: expect.closeTo((frames.length * 1_152) / 44_100, 5) });
  });

  it('are found behind tags, however large', async () => {
    const file = Buffer.concat([id3Sample(300_000), mp3Sample(Array.from({ length: 100 }, () => 128))]);
    expect(await inspect(file)).toMatchObject({ format: 'mp3' });
    await expect(inspect(id3Sample(10, 1_000_000))).rejects.toMatchObject({ code: 'malformed' });
  });
});

describe('files of other types', () => {
  it.each([
    ['a web page', ' <!DOCTYPE html><html>'],
    ['an SVG drawing', '<?xml version="1.0"?><svg xmlns="x">'],
    ['text or JSON', '{"error":"not found"}'],
    ['a PDF document', '%PDF-1.7'],
    ['a ZIP archive', 'PK\u0003\u0004...'],
  ])('are refused by name: %s', async (name, beginning) => {
    await expect(inspect(Buffer.from(beginning))).rejects.toMatchObject({ code: 'unsupported', message: `is ${name}` });
  });

  it('are refused when they are unknown or empty', async () => {
    await expect(inspect(Buffer.from('some words that mean nothing'))).rejects.toMatchObject({ code: 'unsupported' });
    await expect(inspect(Buffer.alloc(0))).rejects.toMatchObject({ code: 'unsupported', message: 'is empty' });
  });
});
