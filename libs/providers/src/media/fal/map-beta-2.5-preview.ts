import type { Beta25PreviewRequest, JsonObject } from '#contracts';
import { fileAs, present, refuseIf } from '../http/mapping.js';
import type { FalMapping } from './fal-mapping.js';
import { refuseLackingOfWan, refusePromptOfWan } from './wan.js';

const RATIOS: readonly string[] = ['16:9', '9:16', '1:1'];

/** Wan 2.5 preview at fal. Its videos always have sound. */
export const mapBeta25Preview: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & Beta25PreviewRequest;
  const image = fileAs(order, 'first_frame', file);
  refuseLackingOfWan(asked);
  refusePromptOfWan(asked.prompt);
  refuseIf(image === undefined && !RATIOS.includes(asked.size), 'size', 'size must be 16:9, 9:16 or 1:1 here.');
  const input = present({
    prompt: asked.prompt,
    negative_prompt: asked.negative_prompt,
    resolution: asked.resolution,
    duration: String(asked.duration),
    enable_prompt_expansion: asked.prompt_extend,
    audio_url: fileAs(order, 'soundtrack', file),
    seed: asked.seed,
  });
  return image === undefined
    ? { endpoint: 'text-to-video', input: { ...input, aspect_ratio: asked.size } }
    : { endpoint: 'image-to-video', input: { ...input, image_url: image } };
};
