import { Choice, ImageUrls, Resolution, Text, Whole } from '../fields.js';
import { defineFamily } from '../model-family.js';
import { filesAt, GENERAL_IMAGE } from '../references.js';
import { fixedSize, IMAGE_PIXELS } from '../output-sizes.js';

const MODELS = ['eta-image-2.0', 'eta-image-2.0-pro'] as const;
const SIZES = ['1:1', '4:3', '3:4', '16:9', '9:16', '3:2', '2:3'] as const;
const RESOLUTIONS = ['1K', '2K'] as const;

/** Fields of the eta family. */
export class EtaRequest {
  @Choice(MODELS, { required: true })
  model!: (typeof MODELS)[number];

  @Text({ required: true, max: 800 })
  prompt!: string;

  @Choice(SIZES, { default: '1:1', note: 'Aspect ratio.' })
  size!: (typeof SIZES)[number];

  @Resolution(RESOLUTIONS, { default: '1K' })
  resolution!: (typeof RESOLUTIONS)[number];

  @Whole({ min: 1, max: 6, default: 1, note: 'Number of images.' })
  n!: number;

  @Text({ max: 500, note: 'Content to avoid.' })
  negative_prompt?: string;

  @ImageUrls({ note: 'Reference images, publicly reachable; base64 is not supported.' })
  image_urls?: string[];
}

export const eta = defineFamily(EtaRequest, {
  id: 'eta',
  summary: 'Up to 6 images from a text or from reference images; pro renders text and texture better.',
  example: { model: 'eta-image-2.0', prompt: 'A lighthouse at dusk.', size: '16:9', resolution: '2K', n: 2 },
  medium: 'image',
  modes: ['text-to-image', 'image-to-image'],
  mode: (sent) => (sent.image_urls ? 'image-to-image' : 'text-to-image'),
  references: (order) => filesAt('image_urls', order.image_urls, 'image', 'reference', GENERAL_IMAGE),
  output: (order) => ({
    medium: 'image',
    count: order.n,
    size: fixedSize(IMAGE_PIXELS[order.size][order.resolution]),
    watermark: false,
  }),
  // A fixed price per image, whatever its size.
  variants: { 'eta-image-2.0': ['default'], 'eta-image-2.0-pro': ['default'] },
  billing: (order) => ({ variant: 'default', quantity: order.n, settle: 'per-output' }),
});
