import type { JsonObject, PlannedOrder, ZetaQ3ProRequest, ZetaQ3Request } from '#contracts';
import { chosenSeed, present, refuseIf } from '../http/mapping.js';
import type { FileAddress } from '../http/media-codec.js';

const MAX_SEED = 2_147_483_647;

/** What follows `/ent/v2/` in the address, by what an order is made from. */
const PATHS: Readonly<Record<string, string>> = {
  'text-to-video': 'text2video',
  'image-to-video': 'img2video',
  'first-last-frame': 'start-end2video',
  'reference-to-video': 'reference2video',
};

/** Order for the zeta families: Vidu Q3 (vendors.md 10). */
export function mapZeta(
  order: PlannedOrder,
  model: string,
  file: FileAddress,
): { readonly path: string; readonly body: JsonObject } {
  const asked = order.parameters as JsonObject & (ZetaQ3ProRequest | ZetaQ3Request);
  const images = order.references.map(({ param }) => file(param));
  refuseIf(
    // The vendor takes 0 for no seed.
    asked.seed === 0 || (asked.seed ?? 0) > MAX_SEED,
    'seed',
    `seed must be -1, or 1 to ${MAX_SEED}, here.`,
  );
  return {
    path: PATHS[order.mode] ?? 'text2video',
    body: present({
      model,
      prompt: asked.prompt,
      images: images.length > 0 ? images : undefined,
      duration: asked.duration,
      resolution: asked.resolution,
      aspect_ratio: asked.aspect_ratio,
      // The vendor's own default is true; what is made from references is sold without sound.
      audio: 'audio' in asked ? asked.audio : false,
      seed: chosenSeed(asked.seed),
      // Comes back in every reply, so that an operator finds our task by the vendor's.
      payload: order.taskId,
    }),
  };
}
