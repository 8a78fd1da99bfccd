import { Choice, ImageUrls, Text, Whole } from '../fields.js';
import { defineFamily } from '../model-family.js';
import { fileAt, GENERAL_IMAGE } from '../references.js';
import { DAY_SECONDS } from '../output-sizes.js';

const MODELS = ['iota-1.0-edit-reseller'] as const;

/** Fields of iota-1.0-edit-reseller. Its path serves nothing else, so `model` may be left out. */
export class IotaEditRequest {
  @Choice(MODELS, { default: 'iota-1.0-edit-reseller' })
  model!: (typeof MODELS)[number];

  @Text({ required: true, note: 'What to change, in Chinese or English.' })
  prompt!: string;

  @ImageUrls({
    required: true,
    min: 1,
    inline: ['png', 'jpeg', 'webp', 'gif'],
    httpsOnly: true,
    note: 'The image to edit; only the first is used.',
  })
  image_urls!: string[];

  @Whole({ min: 1, max: 10, default: 1, note: 'Number of images.' })
  n!: number;
}

export const iotaEdit = defineFamily(IotaEditRequest, {
  id: 'iota-edit',
  summary: 'Up to 10 edited versions of an image.',
  example: {
    model: 'iota-1.0-edit-reseller',
    prompt: 'Make it night.',
    image_urls: ['https://media.example.com/lighthouse.png'],
  },
  medium: 'image',
  path: '/v1/images/edits',
  modes: ['image-edit'],
  mode: () => 'image-edit',
  notices: [
    {
      message: 'Only the first of image_urls is used.',
      applies: (sent) => sent.image_urls !== undefined && sent.image_urls.length > 1,
    },
  ],
  references: (order) => fileAt('image_urls[0]', order.image_urls[0], 'image', 'reference', GENERAL_IMAGE),
  output: (order) => ({
    medium: 'image',
    count: order.n,
    size: { kind: 'like-reference', param: 'image_urls[0]', pixels: 1024 * 1024, multipleOf: 8 },
    watermark: false,
  }),
  variants: { 'iota-1.0-edit-reseller': ['default'] },
  billing: (order) => ({ variant: 'default', quantity: order.n, settle: 'per-output' }),
  resultTtlSeconds: DAY_SECONDS,
});
