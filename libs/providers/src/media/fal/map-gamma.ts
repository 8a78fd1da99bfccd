import type { GammaRequest, JsonObject } from '#contracts';
import { fileAs, present, refuseIf } from '../http/mapping.js';
import type { FalMapping } from './fal-mapping.js';

const DURATIONS: readonly number[] = [4, 6, 8];

/** Veo 3.1 at fal. */
export const mapGamma: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & GammaRequest;
  const first = fileAs(order, 'first_frame', file);
  const last = fileAs(order, 'last_frame', file);
  refuseLacking(asked, first !== undefined);
  const input = present({
    prompt: asked.prompt,
    negative_prompt: asked.negative_prompt,
    duration: `${asked.duration}s`,
    aspect_ratio: asked.aspect_ratio,
    resolution: asked.resolution.toLowerCase(),
    generate_audio: asked.generate_audio,
    // A refused prompt is reported to the caller instead of being rewritten by the vendor.
    auto_fix: false,
    seed: asked.seed,
  });
  if (first === undefined) return { input };
  return last === undefined
    ? { endpoint: 'image-to-video', input: { ...input, image_url: first } }
    : { endpoint: 'first-last-frame-to-video', input: { ...input, first_frame_url: first, last_frame_url: last } };
};

function refuseLacking(asked: GammaRequest, hasFirst: boolean): void {
  refuseIf(asked.sample_count > 1, 'sample_count', 'sample_count must be 1 here.');
  refuseIf(!DURATIONS.includes(asked.duration), 'duration', 'duration must be 4, 6 or 8 here.');
  refuseIf(asked.person_generation === 'disallow', 'person_generation', 'person_generation must be allow_adult here.');
  refuseIf(hasFirst && asked.resize_mode === 'pad', 'resize_mode', 'resize_mode must be crop here.');
}
