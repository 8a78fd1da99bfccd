import type { Epsilon02Request, Epsilon23Request, JsonObject, PlannedOrder } from '#contracts';
import { fileAs, present, refuseIf, refuseLonger } from '../http/mapping.js';
import type { FileAddress } from '../http/media-codec.js';

const MAX_PROMPT = 2_000;

/**
 * Body of an order for the epsilon families: Hailuo 2.3 and 02 (vendors.md 9). What is sold as 5 s is made as 6: the vendor
 * makes 6 or 10.
 */
export function mapEpsilon(order: PlannedOrder, model: string, file: FileAddress): JsonObject {
  const asked = order.parameters as JsonObject & (Epsilon02Request | Epsilon23Request);
  const first = fileAs(order, 'first_frame', file);
  const last = fileAs(order, 'last_frame', file);
  refuseLonger('prompt', asked.prompt, MAX_PROMPT);
  refuseIf(
    last !== undefined && first === undefined,
    'last_frame_image',
    'last_frame_image needs first_frame_image here.',
  );
  refuseIf(
    asked.resolution === '512p' && (first === undefined || last !== undefined),
    'resolution',
    'resolution 512p needs first_frame_image, and no last_frame_image, here.',
  );
  refuseIf(
    asked.fast_pretreatment && last !== undefined,
    'fast_pretreatment',
    'fast_pretreatment must be false with last_frame_image here.',
  );
  return present({
    model,
    prompt: asked.prompt,
    duration: asked.duration === 5 ? 6 : asked.duration,
    resolution: asked.resolution.toUpperCase(),
    prompt_optimizer: asked.prompt_optimizer,
    // The page of orders with two frames does not name it.
    fast_pretreatment: last === undefined ? asked.fast_pretreatment : undefined,
    aigc_watermark: asked.watermark,
    first_frame_image: first,
    last_frame_image: last,
  });
}
