import { AudioUrl, Choice, Flag, ImageUrls, Resolution, Text, Whole } from '../fields.js';
import { defineFamily, need, refuse } from '../model-family.js';
import { fileAt, filesAt, GENERAL_AUDIO, GENERAL_IMAGE } from '../references.js';
import { isVisible } from '../../unicode-text.js';
import { videoOutput, videoSize, videoSizeLike } from '../output-sizes.js';

const MODELS = ['beta-2.6'] as const;
const RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4'] as const;
const RESOLUTIONS = ['720p', '1080p'] as const;
const DURATIONS_SECONDS = [5, 10, 15] as const;
const SHOT_TYPES = ['single', 'multi'] as const;
const TEMPLATES = [
  // General.
  'squish',
  'rotation',
  'poke',
  'inflate',
  'dissolve',
  // One person.
  'carousel',
  'singleheart',
  'flying',
  'rose',
  // Two persons.
  'hug',
  'frenchkiss',
  'coupleheart',
] as const;

/** Fields of beta-2.6. No defaults are specified for prompt_extend, audio, shot_type and watermark. */
export class Beta26Request {
  @Choice(MODELS, { required: true })
  model!: (typeof MODELS)[number];

  @Text({ note: 'Required in text mode; ignored with template.' })
  prompt?: string;

  @ImageUrls({ min: 1, max: 1, note: 'With it, the request is in image mode.' })
  image_urls?: string[];

  @Text({ note: 'Content to avoid.' })
  negative_prompt?: string;

  @Choice(RATIOS, { default: '16:9', defaultModes: ['text-to-video'], note: 'Text mode only.' })
  aspect_ratio!: (typeof RATIOS)[number];

  @Resolution(RESOLUTIONS, { default: '720p' })
  resolution!: (typeof RESOLUTIONS)[number];

  @Choice(DURATIONS_SECONDS, { default: 5, note: 'Seconds.' })
  duration!: (typeof DURATIONS_SECONDS)[number];

  @Whole({ min: -1, max: 4_294_967_295, note: '-1 is random.' })
  seed?: number;

  @Flag({ note: 'Automatic prompt enrichment.' })
  prompt_extend?: boolean;

  @Flag({ note: 'Automatic matching audio.' })
  audio?: boolean;

  @AudioUrl({ note: 'Takes priority over audio; must not be longer than the video.' })
  audio_url?: string;

  @Choice(SHOT_TYPES)
  shot_type?: (typeof SHOT_TYPES)[number];

  @Flag()
  watermark?: boolean;

  @Choice(TEMPLATES, { note: 'Effect for image mode: needs exactly one image; a prompt is ignored.' })
  template?: (typeof TEMPLATES)[number];
}

export const beta26 = defineFamily(Beta26Request, {
  id: 'beta-2.6',
  summary: 'Videos from a text or a first frame, with audio, several shots, or an effect template.',
  example: {
    model: 'beta-2.6',
    image_urls: ['https://media.example.com/pair.png'],
    template: 'hug',
    resolution: '720p',
  },
  medium: 'video',
  modes: ['text-to-video', 'image-to-video', 'template'],
  mode: (sent) => {
    if (sent.template) return 'template';
    return sent.image_urls ? 'image-to-video' : 'text-to-video';
  },
  rules: [
    need(
      'prompt',
      'prompt is required in text mode: send prompt, or image_urls with one image.',
      (sent) => !sent.image_urls && !sent.template && !isVisible(sent.prompt),
    ),
    need(
      'image_urls',
      'image_urls is required with template: send exactly one image.',
      (sent) => sent.template !== undefined && sent.image_urls === undefined,
    ),
    // Resolution 480p is refused by its field.
    refuse(
      'aspect_ratio',
      'aspect_ratio is for text mode only: leave it out when image_urls is given.',
      (sent) => sent.aspect_ratio !== undefined && sent.image_urls !== undefined,
    ),
  ],
  notices: [
    {
      message: 'prompt is ignored because template is used.',
      drops: 'prompt',
      applies: (sent) => sent.prompt !== undefined && sent.template !== undefined,
    },
  ],
  references: (order) => [
    ...filesAt('image_urls', order.image_urls, 'image', 'first_frame', GENERAL_IMAGE),
    ...fileAt('audio_url', order.audio_url, 'audio', 'soundtrack', { ...GENERAL_AUDIO, maxSeconds: order.duration }),
  ],
  output: (order) =>
    videoOutput(
      order.image_urls
        ? videoSizeLike('image_urls[0]', order.resolution)
        : videoSize(order.resolution, order.aspect_ratio),
      order.duration,
      { audio: order.audio_url !== undefined || order.audio === true, watermark: order.watermark === true },
    ),
  variants: { 'beta-2.6': RESOLUTIONS },
  billing: (order) => ({ variant: order.resolution, quantity: order.duration, settle: 'per-output' }),
});
