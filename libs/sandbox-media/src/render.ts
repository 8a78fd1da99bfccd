import { crc32, deflateSync } from 'node:zlib';
import type { Canvas } from './canvas.js';
import { LosslessEncoder } from './h264/lossless-encoder.js';
import { YuvFrame } from './h264/yuv-frame.js';
import { writeMovie } from './mp4.js';
import {
  type RenderRequest,
  SANDBOX_LABEL,
  type SceneDescription,
  sceneHash,
  type VideoDescription,
} from './render-request.js';
import { paintTitleCard } from './title-card.js';
import { composeSound } from './tones.js';
import { VideoScene } from './video-scene.js';

const FRAMES_PER_SECOND = 24;

/** How many frames a video has: its length rounded to a whole frame, and at least one. */
const frameCountOf = (durationSeconds: number): number => Math.max(1, Math.round(durationSeconds * FRAMES_PER_SECOND));

export function drawLastFrame(scene: SceneDescription, video: VideoDescription): Canvas {
  const videoScene = new VideoScene(scene, frameCountOf(video.durationSeconds), FRAMES_PER_SECOND);
  videoScene.draw(videoScene.frameCount - 1);
  return videoScene.canvas;
}

/**
 * Draws and codes a whole video as MP4 with one H.264 track and, unless `audibleSeconds` is null, one AAC track.
 *
 * @param metadata keys as in `writeMovie`.
 * @throws RangeError when a side is odd or the size is beyond H.264 level 5.2.
 */
function encodeVideo(
  scene: SceneDescription,
  video: VideoDescription,
  metadata: Readonly<Record<string, string>>,
): Uint8Array {
  const { width, height } = scene;
  const format = { width, height, framesPerSecond: FRAMES_PER_SECOND };
  const encoder = new LosslessEncoder(format);
  const videoScene = new VideoScene(scene, frameCountOf(video.durationSeconds), FRAMES_PER_SECOND);
  const frame = new YuvFrame(width, height);
  const samples = Array.from({ length: videoScene.frameCount }, (_, index) => {
    const rectangles = videoScene.draw(index);
    if (index > 0) return encoder.encodeChanges(frame, frame.copyChanges(videoScene.canvas, rectangles));
    frame.copyAll(videoScene.canvas);
    return encoder.encodeKeyFrame(frame);
  });
  const sound =
    video.audibleSeconds === null
      ? undefined
      : composeSound(sceneHash(scene, 'melody'), video.durationSeconds, video.audibleSeconds);
  const { sequenceParameterSet, pictureParameterSet } = encoder;
  return writeMovie({ ...format, sequenceParameterSet, pictureParameterSet, samples }, sound, metadata);
}

const SIGNATURE = Uint8Array.of(137, 80, 78, 71, 13, 10, 26, 10);
const BITS_PER_PIXEL = 8;
const INDEXED_COLOUR = 3;
const FILTER_NONE = 0;
/** Each byte is stored as its difference to the one above, so that a repeated row is all zeros. */
const FILTER_UP = 2;

/**
 * Encodes a canvas as an indexed-colour PNG of exactly its size (PNG specification, third edition).
 *
 * @param metadata keyword to text; keywords are Latin-1 of 1 to 79 characters, texts may be any Unicode (`iTXt`).
 */
function encodePng(canvas: Canvas, metadata: Readonly<Record<string, string>>): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(canvas.width, 0);
  header.writeUInt32BE(canvas.height, 4);
  header.set([BITS_PER_PIXEL, INDEXED_COLOUR], 8);
  const texts = Object.entries(metadata).map(([keyword, text]) =>
    chunk('iTXt', Buffer.from(`${keyword}\0\0\0\0\0${text}`, 'utf8')),
  );
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    ...texts,
    chunk('PLTE', canvas.palette),
    chunk('IDAT', deflateSync(filterRows(canvas), { level: 1 })),
    chunk('IEND', new Uint8Array()),
  ]);
}

/** Puts a filter byte before each row: rows that repeat the one above become zeros, others stay as they are. */
function filterRows({ pixels, width, height }: Canvas): Uint8Array {
  const filtered = new Uint8Array((width + 1) * height);
  const rows = Buffer.from(pixels.buffer, pixels.byteOffset, pixels.length);
  for (let y = 0; y < height; y++) {
    const start = y * width;
    const target = y * (width + 1);
    const repeats = y > 0 && rows.compare(rows, start - width, start, start, start + width) === 0;
    filtered[target] = repeats ? FILTER_UP : FILTER_NONE;
    if (!repeats) filtered.set(pixels.subarray(start, start + width), target + 1);
  }
  return filtered;
}

/** Length, type, data, and a checksum over type and data. */
function chunk(type: string, data: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(12 + data.length);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  bytes.set(data, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length);
  return bytes;
}

/**
 * Renders one file: PNG for images and last frames, MP4 for videos. Works without pause for up to half a second of CPU, so
 * a process that serves requests calls it through `RenderPool`. This file is also what the pool's threads run.
 *
 * @throws RangeError when a video's side is odd or its size is beyond H.264 level 5.2.
 */
export default function render(request: RenderRequest): Uint8Array {
  const metadata = describe(request.scene);
  switch (request.kind) {
    case 'image':
      return encodePng(paintTitleCard(request.scene, 0).canvas, metadata);
    case 'last_frame':
      return encodePng(drawLastFrame(request.scene, request.video), metadata);
    case 'video':
      return encodeVideo(request.scene, request.video, metadata);
    default:
      return request satisfies never;
  }
}

/** The metadata of an output, under the keywords of the PNG specification. */
function describe({ model, prompt, seed }: SceneDescription): Record<string, string> {
  return {
    Title: SANDBOX_LABEL,
    Software: 'sandbox provider',
    Description: prompt,
    Comment: `${SANDBOX_LABEL}; model ${model}, seed ${seed}`,
  };
}
