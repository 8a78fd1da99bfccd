import type { JsonObject, KappaRequest, PlannedOrder } from '#contracts';
import type { FileAddress } from '../http/media-codec.js';

/** Body of an order for family kappa: Seedream 4.0 (vendors.md 4). */
export function mapKappa(order: PlannedOrder, model: string, file: FileAddress): JsonObject {
  const asked = order.parameters as JsonObject & KappaRequest;
  const { output, references } = order;
  const images = references.map(({ param }) => file(param));
  // The vendor makes several from a text alone too; the family sells one (D3 4.5).
  const sequence = images.length > 0 ? asked.sequential_image_generation : 'disabled';
  return {
    model,
    prompt: asked.prompt,
    // A token leaves the shape to the model, which takes it from the image.
    size: output.size.kind === 'fixed' ? `${output.size.width}x${output.size.height}` : asked.resolution,
    ...(images.length > 0 && { image: images }),
    sequential_image_generation: sequence,
    // The vendor's own default is 15.
    ...(sequence === 'auto' && { sequential_image_generation_options: { max_images: output.count } }),
    optimize_prompt_options: { mode: asked.optimize_prompt_options },
    // The vendor's own default is true.
    watermark: asked.watermark,
    response_format: 'url',
  };
}
