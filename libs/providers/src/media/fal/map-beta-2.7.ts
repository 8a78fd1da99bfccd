import type { Beta27R2vRequest, Beta27Request, JsonObject } from '#contracts';
import { fileAs, present, referencesOf, refuseIf } from '../http/mapping.js';
import type { FalMapping } from './fal-mapping.js';
import { refuseLackingOfWan } from './wan.js';

/** Longest video with references, in seconds. */
const MAX_REFERENCE_SECONDS = 10;

/** Wan 2.7 at fal: from a text, from frames, or as the continuation of a video. */
export const mapBeta27: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & Beta27Request;
  const first = fileAs(order, 'first_frame', file);
  const last = fileAs(order, 'last_frame', file);
  const video = referencesOf(order, 'video', file)?.[0];
  refuseLackingOfWan(asked);
  refuseIf(
    last !== undefined && first === undefined && video === undefined,
    'image_with_roles',
    'image_with_roles needs a first_frame beside the last_frame here.',
  );
  const input = present({
    prompt: asked.prompt,
    negative_prompt: asked.negative_prompt,
    resolution: asked.resolution.toLowerCase(),
    duration: asked.duration,
    enable_prompt_expansion: asked.prompt_extend,
    audio_url: fileAs(order, 'soundtrack', file),
    seed: asked.seed,
  });
  if (order.mode === 'text-to-video')
    return { endpoint: 'text-to-video', input: { ...input, aspect_ratio: asked.size } };
  const frames = { image_url: first, end_image_url: last, video_url: video };
  return { endpoint: 'image-to-video', input: present({ ...input, ...frames }) };
};

/** Wan 2.7 with the characters of references, at fal. */
export const mapBeta27R2v: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & Beta27R2vRequest;
  const roles = new Set(order.references.map(({ role }) => role));
  refuseLackingOfWan(asked);
  refuseIf(roles.has('first_frame'), 'image_with_roles', 'image_with_roles takes no first_frame here.');
  refuseIf(roles.has('voice'), 'image_with_roles', 'image_with_roles takes no reference_voice here.');
  refuseIf(
    asked.duration > MAX_REFERENCE_SECONDS,
    'duration',
    `duration is at most ${MAX_REFERENCE_SECONDS} seconds here.`,
  );
  refuseIf(!asked.prompt_extend, 'prompt_extend', 'prompt_extend must be true here.');
  return {
    endpoint: 'reference-to-video',
    input: present({
      prompt: asked.prompt,
      negative_prompt: asked.negative_prompt,
      resolution: asked.resolution.toLowerCase(),
      duration: asked.duration,
      aspect_ratio: asked.size,
      multi_shots: false,
      reference_image_urls: referencesOf(order, 'image', file),
      reference_video_urls: referencesOf(order, 'video', file),
      seed: asked.seed,
    }),
  };
};
