import type { JsonObject, ModelFamily } from '#contracts';
import { pngSample } from '#testing';
import type { MediaHost } from './media-host.js';

const INLINE_IMAGE = `data:image/png;base64,${pngSample({ width: 800, height: 600 }).toString('base64')}`;

/** What asks for a model as its family's example does, with files that the host has. */
export function localRequest(host: MediaHost, family: ModelFamily, model: string): JsonObject {
  const body = { ...localExample(host, family), model };
  // The fast variant of epsilon needs a first frame, which the family's example does without.
  return model === 'epsilon-2.3-Fast' ? { ...body, first_frame_image: host.url('/jpg/800x600') } : body;
}

/** A family's own example, with its files moved to the media host; or into the request, where only https is taken. */
function localExample(host: MediaHost, family: ModelFamily): JsonObject {
  if (family.id === 'iota-edit') return { ...family.example, image_urls: [INLINE_IMAGE] };
  const text = JSON.stringify(family.example)
    .replaceAll(/https:\/\/media\.example\.com\/[\w-]+\.(png|jpg)/g, (_, type: string) => host.url(`/${type}/800x600`))
    .replaceAll(/https:\/\/media\.example\.com\/[\w-]+\.mp4/g, host.url('/mp4/640x480x5'))
    .replaceAll(/https:\/\/media\.example\.com\/[\w-]+\.(wav|mp3)/g, host.url('/wav/5'));
  return JSON.parse(text) as JsonObject;
}
