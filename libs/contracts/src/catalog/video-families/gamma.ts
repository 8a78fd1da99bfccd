import { Choice, Flag, ImageUrl, Resolution, Text, Whole } from '../fields.js';
import { defineFamily, refuse } from '../model-family.js';
import { fileAt, GENERAL_IMAGE } from '../references.js';
import { videoOutput, videoSize } from '../output-sizes.js';

const MODELS = ['gamma-3.1-fast-official', 'gamma-3.1-quality-official'] as const;
const RATIOS = ['16:9', '9:16'] as const;
const RESOLUTIONS = ['720p', '1080p', '4K'] as const;
const PERSONS = ['allow_adult', 'disallow'] as const;
const RESIZE_MODES = ['pad', 'crop'] as const;

/** Sound costs more; each resolution is sold with and without. */
const VARIANTS = ['720p', '1080p', '4K', '720p+audio', '1080p+audio', '4K+audio'] as const;

/** Fields of the gamma family. */
export class GammaRequest {
  @Choice(MODELS, { required: true })
  model!: (typeof MODELS)[number];

  @Text({ required: true, note: 'English is recommended.' })
  prompt!: string;

  @Text({ note: 'Content to avoid.' })
  negative_prompt?: string;

  @Whole({ min: 4, max: 8, default: 8, note: 'Seconds; 4, 6 or 8 is recommended.' })
  duration!: number;

  @Choice(RATIOS, { default: '16:9' })
  aspect_ratio!: (typeof RATIOS)[number];

  @Resolution(RESOLUTIONS, { default: '720p' })
  resolution!: (typeof RESOLUTIONS)[number];

  @ImageUrl({ note: 'Public URL without hotlink protection.' })
  first_frame_image?: string;

  @ImageUrl({ note: 'Only together with first_frame_image.' })
  last_frame_image?: string;

  @Whole({ min: 0, max: 4_294_967_295 })
  seed?: number;

  @Whole({ min: 1, max: 4, default: 1, note: 'Number of videos; 1 is recommended.' })
  sample_count!: number;

  @Flag({ default: false, note: 'Audio track.' })
  generate_audio!: boolean;

  @Choice(PERSONS, { default: 'allow_adult', note: 'allow_adult: adults only; disallow: no persons or faces.' })
  person_generation!: (typeof PERSONS)[number];

  @Choice(RESIZE_MODES, {
    default: 'pad',
    defaultModes: ['image-to-video', 'first-last-frame'],
    note: 'Image-to-video only.',
  })
  resize_mode!: (typeof RESIZE_MODES)[number];

  @Choice([true], { default: true, note: 'Only true is accepted.' })
  enhance_prompt!: true;
}

export const gamma = defineFamily(GammaRequest, {
  id: 'gamma',
  summary: 'Videos up to 4K from a text, a first frame, or a first and a last frame; up to four at once.',
  example: { model: 'gamma-3.1-fast-official', prompt: 'A paper boat in the rain.', duration: 8, resolution: '1080p' },
  medium: 'video',
  modes: ['text-to-video', 'image-to-video', 'first-last-frame'],
  mode: (sent) => {
    if (!sent.first_frame_image) return 'text-to-video';
    return sent.last_frame_image ? 'first-last-frame' : 'image-to-video';
  },
  rules: [
    // `enhance_prompt: false` and a `duration` in quotes are refused by their fields.
    refuse(
      'last_frame_image',
      'last_frame_image needs first_frame_image: add it.',
      (sent) => sent.last_frame_image !== undefined && sent.first_frame_image === undefined,
    ),
  ],
  notices: [
    {
      message: 'resize_mode is for image-to-video only and has no effect here.',
      drops: 'resize_mode',
      applies: (sent) => sent.resize_mode !== undefined && sent.first_frame_image === undefined,
    },
  ],
  references: (order) => [
    ...fileAt('first_frame_image', order.first_frame_image, 'image', 'first_frame', GENERAL_IMAGE),
    ...fileAt('last_frame_image', order.last_frame_image, 'image', 'last_frame', GENERAL_IMAGE),
  ],
  // Images are padded or cropped to aspect_ratio, so they do not change the size.
  output: (order) =>
    videoOutput(videoSize(order.resolution, order.aspect_ratio), order.duration, {
      count: order.sample_count,
      audio: order.generate_audio,
    }),
  variants: { 'gamma-3.1-fast-official': VARIANTS, 'gamma-3.1-quality-official': VARIANTS },
  billing: (order) => ({
    variant: order.generate_audio ? `${order.resolution}+audio` : order.resolution,
    quantity: order.duration * order.sample_count,
    settle: 'per-output',
  }),
});
