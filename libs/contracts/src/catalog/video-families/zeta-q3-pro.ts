import { Choice, Flag, ImageUrls, Resolution, Text, Whole } from '../fields.js';
import { defineFamily, need, refuse } from '../model-family.js';
import { fileAt, GENERAL_IMAGE } from '../references.js';
import { isVisible } from '../../unicode-text.js';
import { videoOutput, videoSize, videoSizeLike } from '../output-sizes.js';

const MODELS = ['zeta-q3-pro', 'zeta-q3-turbo'] as const;
const RESOLUTIONS = ['540p', '720p', '1080p'] as const;
const RATIOS = ['16:9', '9:16', '4:3', '3:4', '1:1'] as const;

export class ZetaQ3ProRequest {
  @Choice(MODELS, { required: true })
  model!: (typeof MODELS)[number];

  @Text({ max: 2000, note: 'Required without image_urls.' })
  prompt?: string;

  @Whole({ min: 1, max: 16, default: 5, note: 'Seconds.' })
  duration!: number;

  @Resolution(RESOLUTIONS, { default: '720p' })
  resolution!: (typeof RESOLUTIONS)[number];

  @Choice(RATIOS, { note: 'Text mode only.' })
  aspect_ratio?: (typeof RATIOS)[number];

  @ImageUrls({ max: 2, note: '1 image: start image; 2 images: first then last frame.' })
  image_urls?: string[];

  @Flag({ default: true, note: 'Dialogue and sound effects; false gives a silent video.' })
  audio!: boolean;

  @Whole({ min: -1, max: 4_294_967_295, note: '-1 is random.' })
  seed?: number;
}

export const zetaQ3Pro = defineFamily(ZetaQ3ProRequest, {
  id: 'zeta-q3-pro',
  summary: 'Videos with sound from a text, a start image, or a first and a last frame.',
  example: { model: 'zeta-q3-pro', prompt: 'Two friends talk at a bus stop.', aspect_ratio: '9:16', duration: 8 },
  medium: 'video',
  modes: ['text-to-video', 'image-to-video', 'first-last-frame'],
  mode: (sent) => {
    if (!sent.image_urls) return 'text-to-video';
    return sent.image_urls.length === 2 ? 'first-last-frame' : 'image-to-video';
  },
  rules: [
    need(
      'prompt',
      'prompt is required in text mode: send prompt, or image_urls with one or two images.',
      (sent) => !sent.image_urls && !isVisible(sent.prompt),
    ),
    // More than two images are refused by their field.
    refuse(
      'aspect_ratio',
      'aspect_ratio is for text mode only: leave it out when image_urls is given.',
      (sent) => sent.aspect_ratio !== undefined && sent.image_urls !== undefined,
    ),
  ],
  references: (order) => [
    ...fileAt('image_urls[0]', order.image_urls?.[0], 'image', 'first_frame', GENERAL_IMAGE),
    ...fileAt('image_urls[1]', order.image_urls?.[1], 'image', 'last_frame', GENERAL_IMAGE),
  ],
  // No default is specified for aspect_ratio here; 16:9 is that of zeta-q3.
  output: (order) =>
    videoOutput(
      order.image_urls
        ? videoSizeLike('image_urls[0]', order.resolution)
        : videoSize(order.resolution, order.aspect_ratio ?? '16:9'),
      order.duration,
      { audio: order.audio },
    ),
  variants: { 'zeta-q3-pro': RESOLUTIONS, 'zeta-q3-turbo': RESOLUTIONS },
  billing: (order) => ({ variant: order.resolution, quantity: order.duration, settle: 'per-output' }),
});
