import type { AlphaRequest, JsonObject } from '#contracts';
import { chosenSeed, fileAs, present, referencesOf, refuseIf } from '../http/mapping.js';
import type { FalMapping } from './fal-mapping.js';

/** Most files of one order, all kinds together. */
const MAX_FILES = 12;

/** Seedance 2.0 at fal: the endpoint follows the files (pages of bytedance/seedance-2.0). */
export const mapAlpha: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & AlphaRequest;
  const first = fileAs(order, 'first_frame', file);
  const last = fileAs(order, 'last_frame', file);
  refuseIf(asked.prompt === undefined, 'prompt', 'prompt is required for this model here.');
  refuseIf(
    asked.return_last_frame,
    'return_last_frame',
    'return_last_frame must be false: no last frame is made here.',
  );
  refuseIf((asked.tools?.length ?? 0) > 0, 'tools', 'tools are not to be had here.');
  refuseIf(
    last !== undefined && first === undefined,
    'image_with_roles',
    'image_with_roles needs a first_frame beside the last_frame here.',
  );
  refuseIf(
    order.references.length > MAX_FILES,
    'image_urls',
    `image_urls, video_urls and audio_urls hold at most ${MAX_FILES} files together here.`,
  );
  const input = present({
    prompt: asked.prompt,
    // Sent even where they are the vendor's defaults, which are not ours.
    resolution: asked.resolution,
    duration: String(asked.duration),
    aspect_ratio: asked.size === 'adaptive' ? 'auto' : asked.size,
    generate_audio: asked.generate_audio,
    seed: chosenSeed(asked.seed),
  });
  if (first !== undefined)
    return { endpoint: 'image-to-video', input: present({ ...input, image_url: first, end_image_url: last }) };
  if (order.references.length === 0) return { endpoint: 'text-to-video', input };
  const files = {
    image_urls: referencesOf(order, 'image', file),
    video_urls: referencesOf(order, 'video', file),
    audio_urls: referencesOf(order, 'audio', file),
  };
  return { endpoint: 'reference-to-video', input: present({ ...input, ...files }) };
};
