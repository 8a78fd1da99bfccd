import { Choice, Flag, Resolution, Text } from '../fields.js';
import { defineFamily } from '../model-family.js';
import { fixedSize, IMAGE_PIXELS } from '../output-sizes.js';

const MODELS = ['theta-image-turbo'] as const;
const SIZES = ['1:1', '4:3', '3:4', '16:9', '9:16', '3:2', '2:3'] as const;
const RESOLUTIONS = ['1K', '2K'] as const;

/** Fields of theta-image-turbo. */
export class ThetaRequest {
  @Choice(MODELS, { required: true })
  model!: (typeof MODELS)[number];

  @Text({ required: true, max: 800, note: 'Chinese or English.' })
  prompt!: string;

  @Choice(SIZES, { default: '1:1', note: 'Aspect ratio.' })
  size!: (typeof SIZES)[number];

  @Resolution(RESOLUTIONS, { default: '1K' })
  resolution!: (typeof RESOLUTIONS)[number];

  @Flag({ default: false, note: 'Intelligent prompt rewriting; better and more expensive.' })
  prompt_extend!: boolean;

  @Choice([1], {
    note: 'The model has no n: it makes exactly 1 image. Only 1 is accepted, for clients that always send it.',
  })
  n?: 1;
}

export const theta = defineFamily(ThetaRequest, {
  id: 'theta',
  summary: 'One image from a text, light and fast.',
  example: { model: 'theta-image-turbo', prompt: 'A lighthouse at dusk.', size: '3:2' },
  medium: 'image',
  modes: ['text-to-image'],
  mode: () => 'text-to-image',
  references: () => [],
  output: (order) => ({
    medium: 'image',
    count: 1,
    size: fixedSize(IMAGE_PIXELS[order.size][order.resolution]),
    watermark: false,
  }),
  variants: { 'theta-image-turbo': ['default', 'prompt_extend'] },
  billing: (order) => ({
    variant: order.prompt_extend ? 'prompt_extend' : 'default',
    quantity: 1,
    settle: 'per-output',
  }),
});
