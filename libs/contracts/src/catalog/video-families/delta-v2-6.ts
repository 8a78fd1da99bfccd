import { Choice, Flag, ImageUrls, Text } from '../fields.js';
import { defineFamily, refuse } from '../model-family.js';
import { fileAt, GENERAL_IMAGE } from '../references.js';
import { videoOutput, videoSize, videoSizeLike } from '../output-sizes.js';

const MODELS = ['delta-v2-6'] as const;
const GRADES = ['std', 'pro'] as const;
const DURATIONS_SECONDS = [5, 10] as const;
const RATIOS = ['16:9', '9:16', '1:1'] as const;

/** The resolution each grade makes. */
const RESOLUTION_OF = { std: '720p', pro: '1080p' } as const;

export class DeltaV26Request {
  @Choice(MODELS, { required: true })
  model!: (typeof MODELS)[number];

  @Text({ required: true, max: 2500 })
  prompt!: string;

  @Choice(GRADES, { default: 'std', note: 'std: 720P, silent; pro: 1080P, audio and last frame possible.' })
  mode!: (typeof GRADES)[number];

  @Choice(DURATIONS_SECONDS, { default: 5, note: 'Seconds.' })
  duration!: (typeof DURATIONS_SECONDS)[number];

  @Choice(RATIOS, { default: '16:9', note: 'The ratio of an input image takes precedence.' })
  aspect_ratio!: (typeof RATIOS)[number];

  @Text({ note: 'Content to avoid.' })
  negative_prompt?: string;

  @ImageUrls({ max: 2, note: '1 image: first frame; 2 images: first and last frame, with mode pro.' })
  image_urls?: string[];

  @Flag({ default: false, note: 'Automatic audio; with mode pro only.' })
  audio!: boolean;

  @Flag()
  watermark?: boolean;
}

const hasTwoImages = (sent: Partial<DeltaV26Request>) => sent.image_urls?.length === 2;

/** Only `mode: "pro"` is pro: the default is std. */
const isPro = (sent: Partial<DeltaV26Request>) => sent.mode === 'pro';

export const deltaV26 = defineFamily(DeltaV26Request, {
  id: 'delta-v2-6',
  summary: 'Videos from a text, a first frame, or a first and a last frame, in two grades.',
  example: { model: 'delta-v2-6', prompt: 'A street musician plays.', mode: 'pro', audio: true, duration: 10 },
  medium: 'video',
  modes: ['text-to-video', 'image-to-video', 'first-last-frame'],
  mode: (sent) => {
    if (!sent.image_urls) return 'text-to-video';
    return hasTwoImages(sent) ? 'first-last-frame' : 'image-to-video';
  },
  rules: [
    refuse(
      'audio',
      'audio true needs mode pro: mode std makes silent videos only.',
      (sent) => sent.audio === true && !isPro(sent),
    ),
    refuse(
      'image_urls',
      'image_urls with two images (first and last frame) needs mode pro; mode std takes one.',
      (sent) => hasTwoImages(sent) && !isPro(sent),
    ),
    refuse(
      'audio',
      'audio true cannot be combined with two images: send one image, or audio false.',
      (sent) => sent.audio === true && isPro(sent) && hasTwoImages(sent),
    ),
  ],
  notices: [
    {
      message: 'aspect_ratio has no effect with image_urls: the ratio follows the first image.',
      applies: (sent) => sent.aspect_ratio !== undefined && sent.image_urls !== undefined,
    },
  ],
  references: (order) => [
    ...fileAt('image_urls[0]', order.image_urls?.[0], 'image', 'first_frame', GENERAL_IMAGE),
    ...fileAt('image_urls[1]', order.image_urls?.[1], 'image', 'last_frame', GENERAL_IMAGE),
  ],
  output: (order) => {
    const resolution = RESOLUTION_OF[order.mode];
    return videoOutput(
      order.image_urls ? videoSizeLike('image_urls[0]', resolution) : videoSize(resolution, order.aspect_ratio),
      order.duration,
      { audio: order.audio, watermark: order.watermark === true },
    );
  },
  variants: { 'delta-v2-6': ['std', 'pro', 'pro+audio'] },
  billing: (order) => ({
    variant: order.audio ? 'pro+audio' : order.mode,
    quantity: order.duration,
    settle: 'per-output',
  }),
});
