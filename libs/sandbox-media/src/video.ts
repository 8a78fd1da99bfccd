import type { Canvas } from './canvas.js';
import { VideoScene } from './video-scene.js';
import { LosslessEncoder } from './h264/lossless-encoder.js';
import { YuvFrame } from './h264/yuv-frame.js';
import { writeMovie } from './mp4/movie.js';
import type { VideoDescription, SceneDescription } from './render-request.js';
import { sceneHash } from './scene-hash.js';
import { composeSound } from './tones.js';

/** Frames a second of every sandbox video. */
export const FRAMES_PER_SECOND = 24;

/** How many frames a video has: its length rounded to a whole frame, and at least one. */
export const frameCountOf = (durationSeconds: number): number =>
  Math.max(1, Math.round(durationSeconds * FRAMES_PER_SECOND));

/** Draws the frame a video ends with. */
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
export function encodeVideo(
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
