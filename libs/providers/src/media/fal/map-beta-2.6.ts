import type { Beta26Request, JsonObject } from '#contracts';
import { chosenSeed, fileAs, present, refuseIf } from '../http/mapping.js';
import type { FalMapping } from './fal-mapping.js';
import { refuseLackingOfWan, refusePromptOfWan } from './wan.js';

/** Wan 2.6 at fal. Its videos always have sound. */
export const mapBeta26: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & Beta26Request;
  const image = fileAs(order, 'first_frame', file);
  refuseIf(asked.template !== undefined, 'template', 'template is not to be had here.');
  refuseLackingOfWan(asked);
  refusePromptOfWan(asked.prompt);
  refuseIf(asked.audio === false, 'audio', 'audio must not be false: every video has sound here.');
  const input = present({
    prompt: asked.prompt,
    negative_prompt: asked.negative_prompt,
    resolution: asked.resolution,
    duration: String(asked.duration),
    enable_prompt_expansion: asked.prompt_extend,
    audio_url: fileAs(order, 'soundtrack', file),
    // The maker's own default is one shot, that of fal several.
    multi_shots: asked.shot_type === 'multi',
    seed: chosenSeed(asked.seed),
  });
  return image === undefined
    ? { endpoint: 'text-to-video', input: { ...input, aspect_ratio: asked.aspect_ratio } }
    : { endpoint: 'image-to-video', input: { ...input, image_url: image } };
};
