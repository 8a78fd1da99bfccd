import { Choice, Flag, ImageUrl, Resolution, Text } from '../fields.js';
import { defineFamily, refuse } from '../model-family.js';
import { fileAt, GENERAL_IMAGE, ratioSource } from '../references.js';
import type { MediaReference } from '../media-order.js';
import { videoOutput, videoSize, videoSizeLike } from '../output-sizes.js';

const MODELS = ['epsilon-02'] as const;
const DURATIONS_SECONDS = [5, 10] as const;
const RESOLUTIONS = ['512p', '768p', '1080p'] as const;

/** Fields of epsilon-02. */
export class Epsilon02Request {
  @Choice(MODELS, { required: true })
  model!: (typeof MODELS)[number];

  @Text({ required: true })
  prompt!: string;

  @Choice(DURATIONS_SECONDS, { default: 5, note: 'Seconds; 1080p lasts 5 only.' })
  duration!: (typeof DURATIONS_SECONDS)[number];

  @Resolution(RESOLUTIONS, { default: '768p' })
  resolution!: (typeof RESOLUTIONS)[number];

  @Flag({ default: true, note: 'Automatic prompt optimisation.' })
  prompt_optimizer!: boolean;

  @Flag({ default: false, note: 'Shorter optimisation, slightly weaker.' })
  fast_pretreatment!: boolean;

  @Flag({ default: false })
  watermark!: boolean;

  @ImageUrl({ inline: ['jpeg', 'png'] })
  first_frame_image?: string;

  @ImageUrl({ inline: ['jpeg', 'png'], note: 'End frame.' })
  last_frame_image?: string;
}

const references = (order: Epsilon02Request): MediaReference[] => [
  ...fileAt('first_frame_image', order.first_frame_image, 'image', 'first_frame', GENERAL_IMAGE),
  ...fileAt('last_frame_image', order.last_frame_image, 'image', 'last_frame', GENERAL_IMAGE),
];

export const epsilon02 = defineFamily(Epsilon02Request, {
  id: 'epsilon-02',
  summary: 'Videos from a text, a first frame, an end frame, or both frames.',
  example: { model: 'epsilon-02', prompt: 'A cat on a window sill.', duration: 10, resolution: '512p' },
  medium: 'video',
  modes: ['text-to-video', 'image-to-video', 'first-last-frame'],
  mode: (sent) => {
    if (sent.first_frame_image && sent.last_frame_image) return 'first-last-frame';
    return sent.first_frame_image || sent.last_frame_image ? 'image-to-video' : 'text-to-video';
  },
  rules: [
    refuse(
      'duration',
      'duration 10 needs resolution 512p or 768p: 1080p lasts 5 seconds only.',
      (sent) => sent.resolution === '1080p' && sent.duration === 10,
    ),
  ],
  references,
  output: (order) => {
    const like = ratioSource(references(order));
    return videoOutput(
      like === undefined ? videoSize(order.resolution, '16:9') : videoSizeLike(like, order.resolution),
      order.duration,
      { watermark: order.watermark },
    );
  },
  variants: { 'epsilon-02': RESOLUTIONS },
  billing: (order) => ({ variant: order.resolution, quantity: order.duration, settle: 'per-output' }),
});
