import { Choice, ImageUrls, Resolution, Text, Whole } from '../fields.js';
import type { MediaLimits } from '../media-order.js';
import { defineFamily } from '../model-family.js';
import { filesAt } from '../references.js';
import { videoOutput, videoSize } from '../output-sizes.js';

const MODELS = ['zeta-q3', 'zeta-q3-mix'] as const;
const RESOLUTIONS = ['540p', '720p', '1080p'] as const;
const RATIOS = ['16:9', '9:16', '4:3', '3:4', '1:1'] as const;

/** Reference images of zeta-q3 and zeta-q3-mix. */
const REFERENCE_IMAGE: MediaLimits = {
  formats: ['png', 'jpeg', 'webp'],
  maxBytes: 50 * 1024 * 1024,
  minSidePixels: 128,
  ratio: { min: 1 / 4, max: 4 },
};

export class ZetaQ3Request {
  @Choice(MODELS, { required: true })
  model!: (typeof MODELS)[number];

  @Text({ required: true, max: 5000, note: 'Action and camera; appearance comes from the reference images.' })
  prompt!: string;

  @ImageUrls({ required: true, min: 1, max: 7, note: 'Reference images: PNG, JPEG or WebP, at most 50 MB each.' })
  image_urls!: string[];

  @Whole({ min: 1, max: 16, only: { 'zeta-q3': { min: 3 } }, default: 5, note: 'Seconds; zeta-q3 begins at 3.' })
  duration!: number;

  @Resolution(RESOLUTIONS, {
    only: { 'zeta-q3-mix': ['720p', '1080p'] },
    default: '720p',
    note: '540p on zeta-q3 only.',
  })
  resolution!: (typeof RESOLUTIONS)[number];

  @Choice(RATIOS, { default: '16:9' })
  aspect_ratio!: (typeof RATIOS)[number];

  @Whole({ min: -1, max: 4_294_967_295, note: '-1 is random.' })
  seed?: number;
}

export const zetaQ3 = defineFamily(ZetaQ3Request, {
  id: 'zeta-q3',
  summary: 'Videos with the subjects of 1 to 7 reference images; mix favours image quality.',
  example: {
    model: 'zeta-q3',
    prompt: 'She runs along the beach.',
    image_urls: ['https://media.example.com/her.png'],
    duration: 5,
  },
  medium: 'video',
  modes: ['reference-to-video'],
  mode: () => 'reference-to-video',
  references: (order) => filesAt('image_urls', order.image_urls, 'image', 'reference', REFERENCE_IMAGE),
  output: (order) => videoOutput(videoSize(order.resolution, order.aspect_ratio), order.duration),
  variants: { 'zeta-q3': RESOLUTIONS, 'zeta-q3-mix': ['720p', '1080p'] },
  billing: (order) => ({ variant: order.resolution, quantity: order.duration, settle: 'per-output' }),
});
