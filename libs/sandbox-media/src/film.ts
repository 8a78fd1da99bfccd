import type { Canvas } from './canvas.js';
import { FilmScene } from './film-scene.js';
import { LosslessEncoder } from './h264/lossless-encoder.js';
import { YuvFrame } from './h264/yuv-frame.js';
import { writeMovie } from './mp4/movie.js';
import type { FilmDescription, SceneDescription } from './render-request.js';
import { sceneHash } from './scene-hash.js';
import { composeSound } from './tones.js';

/** Frames a second of every sandbox film. */
export const FRAMES_PER_SECOND = 24;

/** How many frames a film has: its length rounded to a whole frame, and at least one. */
export const frameCountOf = (durationSeconds: number): number =>
  Math.max(1, Math.round(durationSeconds * FRAMES_PER_SECOND));

/** Draws the frame a film ends with. */
export function drawLastFrame(scene: SceneDescription, film: FilmDescription): Canvas {
  const filmScene = new FilmScene(scene, frameCountOf(film.durationSeconds), FRAMES_PER_SECOND);
  filmScene.draw(filmScene.frameCount - 1);
  return filmScene.canvas;
}

/**
 * Draws and codes a whole film as MP4 with one H.264 track and, unless `audibleSeconds` is null, one AAC track.
 *
 * @param metadata keys as in `writeMovie`.
 * @throws RangeError when a side is odd or the size is beyond H.264 level 5.2.
 */
export function encodeFilm(
  scene: SceneDescription,
  film: FilmDescription,
  metadata: Readonly<Record<string, string>>,
): Uint8Array {
  const { width, height } = scene;
  const format = { width, height, framesPerSecond: FRAMES_PER_SECOND };
  const encoder = new LosslessEncoder(format);
  const filmScene = new FilmScene(scene, frameCountOf(film.durationSeconds), FRAMES_PER_SECOND);
  const frame = new YuvFrame(width, height);
  const samples = Array.from({ length: filmScene.frameCount }, (_, index) => {
    const rectangles = filmScene.draw(index);
    if (index > 0) return encoder.encodeChanges(frame, frame.copyChanges(filmScene.canvas, rectangles));
    frame.copyAll(filmScene.canvas);
    return encoder.encodeKeyFrame(frame);
  });
  const sound =
    film.audibleSeconds === null
      ? undefined
      : composeSound(sceneHash(scene, 'melody'), film.durationSeconds, film.audibleSeconds);
  const { sequenceParameterSet, pictureParameterSet } = encoder;
  return writeMovie({ ...format, sequenceParameterSet, pictureParameterSet, samples }, sound, metadata);
}
