import { Choice, Text, Whole } from '../fields.js';
import { defineFamily } from '../model-family.js';
import { DAY_SECONDS, fixedSize, IMAGE_PIXELS } from '../output-sizes.js';

const MODELS = ['iota-1.0-reseller'] as const;
const SIZES = ['1:1', '16:9', '9:16', '3:2', '2:3'] as const;

/** Fields of iota-1.0-reseller. */
export class IotaRequest {
  @Choice(MODELS, { required: true })
  model!: (typeof MODELS)[number];

  @Text({ required: true, note: 'Chinese or English.' })
  prompt!: string;

  @Choice(SIZES, { default: '1:1', note: 'Aspect ratio.' })
  size!: (typeof SIZES)[number];

  @Whole({ min: 1, max: 10, default: 1, note: 'Number of images.' })
  n!: number;
}

export const iota = defineFamily(IotaRequest, {
  id: 'iota',
  summary: 'Up to 10 images from a text.',
  example: { model: 'iota-1.0-reseller', prompt: 'A lighthouse at dusk.', n: 2 },
  medium: 'image',
  modes: ['text-to-image'],
  mode: () => 'text-to-image',
  references: () => [],
  // No pixels are specified for iota; these are the 1K sizes of eta.
  output: (order) => ({
    medium: 'image',
    count: order.n,
    size: fixedSize(IMAGE_PIXELS[order.size]['1K']),
    watermark: false,
  }),
  variants: { 'iota-1.0-reseller': ['default'] },
  billing: (order) => ({ variant: 'default', quantity: order.n, settle: 'per-output' }),
  resultTtlSeconds: DAY_SECONDS,
});
