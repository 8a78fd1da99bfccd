import { Choice, Flag, ImageUrl, Resolution, Text } from '../fields.js';
import { defineFamily, need, refuse } from '../model-family.js';
import { fileAt, GENERAL_IMAGE } from '../references.js';
import { videoOutput, videoSize, videoSizeLike } from '../output-sizes.js';

const MODELS = ['epsilon-2.3', 'epsilon-2.3-Fast'] as const;
const DURATIONS_SECONDS = [6, 10] as const;
const RESOLUTIONS = ['768p', '1080p'] as const;

/** Fields of the epsilon-2.3 family. */
export class Epsilon23Request {
  @Choice(MODELS, { required: true })
  model!: (typeof MODELS)[number];

  @Text({
    required: true,
    max: 2000,
    note: 'May hold the camera commands [左移] [右移] [左摇] [右摇] [推进] [拉远] [上升] [下降] [上摇] [下摇] [变焦推近] [变焦拉远] [晃动] [跟随] [固定].',
  })
  prompt!: string;

  @Choice(DURATIONS_SECONDS, { default: 6, note: 'Seconds; 1080p lasts 6 only.' })
  duration!: (typeof DURATIONS_SECONDS)[number];

  @Resolution(RESOLUTIONS, { default: '768p' })
  resolution!: (typeof RESOLUTIONS)[number];

  @ImageUrl({ inline: ['jpeg', 'png'], note: 'Required by epsilon-2.3-Fast.' })
  first_frame_image?: string;

  @Flag({ default: true, note: 'Automatic prompt optimisation.' })
  prompt_optimizer!: boolean;

  @Flag({ default: false, note: 'Shorter optimisation, slightly weaker.' })
  fast_pretreatment!: boolean;

  @Flag({ default: false })
  watermark!: boolean;
}

export const epsilon23 = defineFamily(Epsilon23Request, {
  id: 'epsilon-2.3',
  summary: 'Videos from a text or a first frame, with camera commands in the prompt.',
  example: { model: 'epsilon-2.3', prompt: 'A cat on a window sill [推进].', duration: 6, resolution: '1080p' },
  medium: 'video',
  modes: ['text-to-video', 'image-to-video'],
  mode: (sent) => (sent.first_frame_image ? 'image-to-video' : 'text-to-video'),
  rules: [
    refuse(
      'duration',
      'duration 10 needs resolution 768p: 1080p lasts 6 seconds only.',
      (sent) => sent.resolution === '1080p' && sent.duration === 10,
    ),
    need(
      'first_frame_image',
      'first_frame_image is required by epsilon-2.3-Fast: add it, or use epsilon-2.3.',
      (sent) => sent.model === 'epsilon-2.3-Fast' && sent.first_frame_image === undefined,
    ),
  ],
  references: (order) => fileAt('first_frame_image', order.first_frame_image, 'image', 'first_frame', GENERAL_IMAGE),
  output: (order) =>
    videoOutput(
      order.first_frame_image
        ? videoSizeLike('first_frame_image', order.resolution)
        : videoSize(order.resolution, '16:9'),
      order.duration,
      { watermark: order.watermark },
    ),
  variants: { 'epsilon-2.3': RESOLUTIONS, 'epsilon-2.3-Fast': RESOLUTIONS },
  billing: (order) => ({ variant: order.resolution, quantity: order.duration, settle: 'per-output' }),
});
