import type { EtaRequest, JsonObject, PlannedOrder, ThetaRequest } from '#contracts';
import { type FileAddress, NotMakeable } from '../http/media-codec.js';

const MOST_IMAGES = 3;

/** Body of an order for family eta: Qwen-Image 2.0 (vendors.md 6). */
export function mapEta(order: PlannedOrder, model: string, file: FileAddress): JsonObject {
  const asked = order.parameters as JsonObject & EtaRequest;
  const { references } = order;
  if (references.length > MOST_IMAGES)
    throw new NotMakeable('image_urls', `image_urls has at most ${MOST_IMAGES} images here.`);
  return {
    model,
    input: message(
      asked.prompt,
      references.map(({ param }) => file(param)),
    ),
    parameters: {
      size: sizeOf(order),
      n: asked.n,
      ...(asked.negative_prompt !== undefined && { negative_prompt: asked.negative_prompt }),
      // The family does not offer it. Said, so that a change of the vendor's default changes nothing of what is sold.
      prompt_extend: true,
      watermark: false,
    },
  };
}

/** Body of an order for family theta: Z-Image turbo, which makes one image (vendors.md 6). */
export function mapTheta(order: PlannedOrder, model: string): JsonObject {
  const { prompt, prompt_extend: extended } = order.parameters as JsonObject & ThetaRequest;
  return { model, input: message(prompt, []), parameters: { size: sizeOf(order), prompt_extend: extended } };
}

const message = (text: string, images: readonly string[]): JsonObject => ({
  messages: [{ role: 'user', content: [...images.map((image) => ({ image })), { text }] }],
});

function sizeOf({ output: { size } }: PlannedOrder): string {
  if (size.kind !== 'fixed') throw new RangeError('images of these families have fixed sizes');
  return `${size.width}*${size.height}`;
}
