import { createHash } from 'node:crypto';
import type { SceneDescription } from './render-request.js';

/** 32 bytes that depend on what makes an output differ from others, and on the purpose they are drawn for. */
export function sceneHash(scene: SceneDescription, purpose: 'background' | 'motion' | 'melody'): Uint8Array {
  const { model, prompt, seed, index, width, height } = scene;
  return createHash('sha256')
    .update(JSON.stringify([purpose, model, prompt, seed, index, width, height]))
    .digest();
}
