import { Canvas, YELLOW } from './canvas.js';
import { type DecodedFrame, LosslessDecoder } from './testing/lossless-decoder.js';
import { readLabel, readPng } from './testing/read-png.js';
import { boxAt, type Mp4Track, readBoxes, readTracks } from './testing/read-mp4.js';
import { YuvFrame } from './h264/yuv-frame.js';
import { type RenderRequest, SANDBOX_LABEL, type SceneDescription, type VideoDescription } from './render-request.js';
import { drawLastFrame } from './render.js';
import render from './render.js';

const SCENE: SceneDescription = {
  model: 'beta-2.5-preview',
  prompt: 'Rain on a roof, 屋顶',
  seed: 7,
  index: 0,
  count: 1,
  width: 832,
  height: 480,
  watermark: false,
  facts: ['text-to-video'],
};
const VIDEO: VideoDescription = { durationSeconds: 1, audibleSeconds: 1 };
const request = (scene: Partial<SceneDescription> = {}, video: Partial<VideoDescription> = {}): RenderRequest => ({
  kind: 'video',
  scene: { ...SCENE, ...scene },
  video: { ...VIDEO, ...video },
});

/** Every frame of a video as a player would show it. */
function decode(file: Uint8Array): { frames: DecodedFrame[]; decoder: LosslessDecoder; video: Mp4Track } {
  const configuration = boxAt(readBoxes(file), 'moov/trak/mdia/minf/stbl/stsd/avc1/avcC').content;
  const decoder = new LosslessDecoder(configuration.subarray(8, 8 + configuration.readUInt16BE(6)));
  const [video] = readTracks(file);
  if (!video) throw new Error('no track');
  const frames = video.samples.map((sample) => {
    expect(sample.readUInt32BE(0)).toBe(sample.length - 4);
    return decoder.decode(sample.subarray(4));
  });
  return { frames, decoder, video };
}

/** A canvas as the encoder sees it, cropped to its size. */
function expectedFrame(canvas: Canvas): DecodedFrame {
  const frame = new YuvFrame(canvas.width, canvas.height);
  frame.copyAll(canvas);
  const [luma, blueDifference, redDifference] = frame.planes.map(({ samples, stride, square }) => {
    const rows = Array.from({ length: (canvas.height * square) / 16 }, (_, y) =>
      samples.subarray(y * stride, y * stride + (canvas.width * square) / 16),
    );
    return Buffer.concat(rows);
  });
  if (!luma || !blueDifference || !redDifference) throw new Error('three planes');
  return { luma, blueDifference, redDifference };
}

/** All sizes of video models that have a table, those of its resolution classes, and shapes taken from references. */
const SIZES: [number, number][] = [
  [832, 480],
  [480, 832],
  [624, 624],
  [1280, 720],
  [720, 1280],
  [960, 960],
  [1088, 832],
  [832, 1088],
  [1920, 1080],
  [1080, 1920],
  [1440, 1440],
  [1632, 1248],
  [1248, 1632],
  [960, 540],
  [540, 960],
  [720, 540],
  [912, 512],
  [1366, 768],
  [1024, 768],
  [1680, 720],
  [3840, 2160],
  [2160, 3840],
  [2716, 340],
  [240, 240],
  [242, 250],
  [8688, 46],
  [46, 8688],
  [2, 2],
];

describe('a sandbox video', () => {
  it.each(SIZES)('of %i x %i decodes to its size, and ends exactly as its last frame shows', (width, height) => {
    const scene = { ...SCENE, width, height };
    const video = { durationSeconds: 0.25, audibleSeconds: null };
    const { frames, decoder, video: track } = decode(render({ kind: 'video', scene, video }));
    expect(decoder.parameters).toMatchObject({ profile: 66, width, height });
    expect(track).toMatchObject({ kind: 'vide', codec: 'avc1', width, height });
    expect(frames).toHaveLength(6);
    const expected = expectedFrame(drawLastFrame(scene, video));
    const last = frames.at(-1);
    expect(Buffer.compare(last?.luma ?? Buffer.of(), expected.luma)).toBe(0);
    expect(Buffer.compare(last?.blueDifference ?? Buffer.of(), expected.blueDifference)).toBe(0);
    expect(Buffer.compare(last?.redDifference ?? Buffer.of(), expected.redDifference)).toBe(0);
  });

  it.each([1, 4, 5, 6, 8, 10, 15, 16])(
    'of %i seconds is exactly that long, with sound of the same length',
    (durationSeconds) => {
      const file = render(request({ width: 240, height: 240 }, { durationSeconds, audibleSeconds: durationSeconds }));
      const header = boxAt(readBoxes(file), 'moov/mvhd').content;
      expect(header.readUInt32BE(16) / header.readUInt32BE(12)).toBe(durationSeconds);
      const [video, audio] = readTracks(file);
      expect(video).toMatchObject({ mediaSeconds: durationSeconds, shownSeconds: durationSeconds });
      expect(video?.samples).toHaveLength(durationSeconds * 24);
      expect(audio).toMatchObject({ kind: 'soun', codec: 'mp4a', shownSeconds: durationSeconds, skippedTicks: 1024 });
      expect(audio?.mediaSeconds).toBeGreaterThanOrEqual(durationSeconds + 1024 / 48_000);
    },
  );

  it('has no audio track when it is silent', () => {
    expect(readTracks(render(request({}, { audibleSeconds: null }))).map(({ kind }) => kind)).toEqual(['vide']);
  });

  it('falls silent where its soundtrack ends', () => {
    const [, audio] = readTracks(render(request({}, { durationSeconds: 4, audibleSeconds: 1 })));
    const silent = audio?.samples.map((sample) => sample.length === 4) ?? [];
    expect(silent.indexOf(true)).toBe(1 + Math.ceil(48_000 / 1024));
    expect(silent.lastIndexOf(false)).toBe(silent.indexOf(true) - 1);
  });

  it('moves: frames differ, and yet most of each frame is taken from the one before', () => {
    const { frames, decoder } = decode(render(request({}, { durationSeconds: 2 })));
    const distinct = new Set(frames.map(({ luma }) => Buffer.from(luma).toString('latin1')));
    expect(distinct.size).toBeGreaterThan(20);
    const { skipped, copied, raw } = decoder.counts;
    expect(skipped).toBeGreaterThan((copied + raw) * 10);
  });

  it('says in its metadata and its last frame that it is no model’s work', () => {
    const boxes = readBoxes(render(request()));
    const text = (type: string) => boxAt(boxes, `moov/udta/meta/ilst/${type}/data`).content.toString('utf8', 8);
    expect(text('\u00a9nam')).toBe(SANDBOX_LABEL);
    expect(text('\u00a9cmt')).toContain('model beta-2.5-preview, seed 7');
    expect(text('desc')).toBe(SCENE.prompt);
    const lastFrame = readPng(render({ kind: 'last_frame', scene: SCENE, video: VIDEO }));
    expect([lastFrame.width, lastFrame.height]).toEqual([832, 480]);
    expect(readLabel(lastFrame, { x: 16, y: 8, scale: 1, colour: YELLOW })).toContain(SANDBOX_LABEL);
  });

  it('puts its index before its data, so that players start at once', () => {
    const boxes = readBoxes(render(request()));
    expect(boxes.map(({ type }) => type)).toEqual(['ftyp', 'moov', 'mdat']);
  });

  it('keeps every sample inside the data, one after the other and with nothing left over', () => {
    const file = render(request());
    const data = boxAt(readBoxes(file), 'mdat').content;
    const samples = readTracks(file).flatMap((track) => track.samples);
    expect(Buffer.concat(samples).equals(data)).toBe(true);
  });

  it('is the same for the same request, byte for byte, and another for another seed', () => {
    expect(Buffer.compare(render(request()), render(request()))).toBe(0);
    expect(Buffer.compare(render(request()), render(request({ seed: 8 })))).not.toBe(0);
  });

  it.each([
    ['odd sides', { width: 833 }, 'even sides'],
    ['a size beyond level 5.2', { width: 8192, height: 4320 }, 'beyond H.264 level 5.2'],
  ])('refuses %s', (_case, scene, message) => {
    expect(() => render(request(scene))).toThrow(message);
  });
});
