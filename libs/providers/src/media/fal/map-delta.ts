import type { DeltaV26Request, JsonObject } from '#contracts';
import { fileAs, present, refuseIf } from '../http/mapping.js';
import type { FalMapping } from './fal-mapping.js';

/** Kling 2.6 at fal, which has its grade pro only. */
export const mapDelta: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & DeltaV26Request;
  const first = fileAs(order, 'first_frame', file);
  refuseIf(asked.mode === 'std', 'mode', 'mode must be pro here.');
  refuseIf(asked.watermark === true, 'watermark', 'watermark must be false: no watermark is made here.');
  const input = {
    prompt: asked.prompt,
    duration: String(asked.duration),
    generate_audio: asked.audio,
    // The vendor's own default is a text.
    negative_prompt: asked.negative_prompt ?? '',
  };
  if (first === undefined) return { endpoint: 'text-to-video', input: { ...input, aspect_ratio: asked.aspect_ratio } };
  // The ratio follows the image, as the family says.
  const frames = { start_image_url: first, end_image_url: fileAs(order, 'last_frame', file) };
  return { endpoint: 'image-to-video', input: present({ ...input, ...frames }) };
};
