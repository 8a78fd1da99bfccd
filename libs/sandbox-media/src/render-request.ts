import { createHash } from 'node:crypto';

/** What a sandbox image shows and what its colours are derived from. Plain JSON. */
export type SceneDescription = {
  readonly model: string;
  readonly prompt: string;
  readonly seed: number;
  /** Which of several outputs this is, from 0. Each looks different. */
  readonly index: number;
  readonly count: number;
  /** Pixels; even for videos. */
  readonly width: number;
  readonly height: number;
  /** Whether a watermark is in the lower right corner. */
  readonly watermark: boolean;
  /** Further lines about the request, the most telling first. */
  readonly facts: readonly string[];
};

/** How long a sandbox video is, and how it sounds. Plain JSON. */
export type VideoDescription = {
  readonly durationSeconds: number;
  /** How many seconds sound before silence; null for a video without an audio track. */
  readonly audibleSeconds: number | null;
};

/** One file to render. Equal requests give equal bytes. */
export type RenderRequest =
  | { readonly kind: 'image'; readonly scene: SceneDescription }
  | { readonly kind: 'video' | 'last_frame'; readonly scene: SceneDescription; readonly video: VideoDescription };

/** Stands in every image and in the metadata of every file, so that an output is not mistaken for a model's work. */
export const SANDBOX_LABEL = 'SANDBOX OUTPUT - not a real model';

/** 32 bytes that depend on what makes an output differ from others, and on the purpose they are drawn for. */
export function sceneHash(scene: SceneDescription, purpose: 'background' | 'motion' | 'melody'): Uint8Array {
  const { model, prompt, seed, index, width, height } = scene;
  return createHash('sha256')
    .update(JSON.stringify([purpose, model, prompt, seed, index, width, height]))
    .digest();
}
