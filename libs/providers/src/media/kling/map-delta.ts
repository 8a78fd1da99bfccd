import type { DeltaV26Request, JsonObject, PlannedOrder } from '#contracts';
import { refuseLonger } from '../http/mapping.js';
import type { FileAddress } from '../http/media-codec.js';

const TEXT_CHARACTERS = 2_500;

/** Body of an order for delta-v2-6: Kling v2.6 (vendors.md 8). */
export function mapDelta(order: PlannedOrder, model: string, file: FileAddress): JsonObject {
  const asked = order.parameters as JsonObject & DeltaV26Request;
  const { negative_prompt: avoided, watermark } = asked;
  refuseLonger('negative_prompt', avoided, TEXT_CHARACTERS);
  const [first, last] = order.references.map(({ param }) => file(param));
  return {
    model_name: model,
    prompt: asked.prompt,
    ...(avoided !== undefined && { negative_prompt: avoided }),
    mode: asked.mode,
    duration: String(asked.duration),
    // The shape follows an image; sound belongs to the grade pro, and silence is the vendor's default.
    ...(first === undefined && { aspect_ratio: asked.aspect_ratio }),
    ...(first !== undefined && { image: first }),
    ...(last !== undefined && { image_tail: last }),
    ...(asked.audio && { sound: 'on' }),
    ...(watermark !== undefined && { watermark_info: { enabled: watermark } }),
    // What a lost order is searched by.
    external_task_id: order.taskId,
  };
}
