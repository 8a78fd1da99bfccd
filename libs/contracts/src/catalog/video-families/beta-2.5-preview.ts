import { AudioUrl, Choice, Flag, ImageUrls, Resolution, Text, Whole } from '../fields.js';
import { defineFamily, need, refuse } from '../model-family.js';
import { fileAt, filesAt, GENERAL_AUDIO, GENERAL_IMAGE } from '../references.js';
import { isVisible } from '../../unicode-text.js';
import { videoOutput, videoSize, videoSizeLike } from '../output-sizes.js';

const MODELS = ['beta-2.5-preview'] as const;
const SIZES = ['16:9', '9:16', '1:1', '4:3', '3:4'] as const;
const RESOLUTIONS = ['480p', '720p', '1080p'] as const;
const DURATIONS_SECONDS = [5, 10] as const;

export class Beta25PreviewRequest {
  @Choice(MODELS, { required: true })
  model!: (typeof MODELS)[number];

  @Text({ note: 'Required without image_urls.' })
  prompt?: string;

  @ImageUrls({ min: 1, max: 1, inline: ['png'], note: 'The first frame. With it, the request is in image mode.' })
  image_urls?: string[];

  @Text({ max: 500, note: 'Content to avoid.' })
  negative_prompt?: string;

  @Resolution(RESOLUTIONS, { default: '720p' })
  resolution!: (typeof RESOLUTIONS)[number];

  @Choice(DURATIONS_SECONDS, { default: 5, note: 'Seconds.' })
  duration!: (typeof DURATIONS_SECONDS)[number];

  @Choice(SIZES, {
    default: '16:9',
    defaultModes: ['text-to-video'],
    note: 'Text mode only. 4:3 and 3:4 need 720p or 1080p.',
  })
  size!: (typeof SIZES)[number];

  @Whole({ min: 0, max: Number.MAX_SAFE_INTEGER })
  seed?: number;

  @Flag({ default: true, note: 'Intelligent prompt rewriting.' })
  prompt_extend!: boolean;

  @Choice([true], { default: true, note: 'Automatic audio; only true is supported.' })
  audio!: true;

  @AudioUrl({
    note: 'Custom audio: wav or mp3, 3 to 30 s, at most 15 MB. Cut at the end of the video; silence fills a gap.',
  })
  audio_url?: string;

  @Flag({ default: false, note: 'Label at the lower right.' })
  watermark!: boolean;
}

export const beta25Preview = defineFamily(Beta25PreviewRequest, {
  id: 'beta-2.5-preview',
  summary: 'Videos with sound from a text or a first frame.',
  example: {
    model: 'beta-2.5-preview',
    prompt: 'A paper boat in the rain.',
    resolution: '480p',
    duration: 5,
    size: '16:9',
  },
  medium: 'video',
  modes: ['text-to-video', 'image-to-video'],
  mode: (sent) => (sent.image_urls ? 'image-to-video' : 'text-to-video'),
  rules: [
    need(
      'prompt',
      'prompt is required in text mode: send prompt, or image_urls with one image.',
      (sent) => !sent.image_urls && !isVisible(sent.prompt),
    ),
    // `audio: false` is refused by its field. "image_urls in text mode" cannot happen: sending the field makes it image mode.
    refuse(
      'size',
      'size is for text mode only: leave it out when image_urls is given.',
      (sent) => sent.image_urls !== undefined && sent.size !== undefined,
    ),
    refuse(
      'size',
      'size 4:3 and 3:4 need resolution 720p or 1080p; 480p allows 16:9, 9:16 or 1:1.',
      (sent) => sent.resolution === '480p' && (sent.size === '4:3' || sent.size === '3:4'),
    ),
  ],
  references: (order) => [
    ...filesAt('image_urls', order.image_urls, 'image', 'first_frame', GENERAL_IMAGE),
    ...fileAt('audio_url', order.audio_url, 'audio', 'soundtrack', { ...GENERAL_AUDIO, minSeconds: 3, maxSeconds: 30 }),
  ],
  output: (order) =>
    videoOutput(
      order.image_urls ? videoSizeLike('image_urls[0]', order.resolution) : videoSize(order.resolution, order.size),
      order.duration,
      { audio: true, watermark: order.watermark },
    ),
  variants: { 'beta-2.5-preview': RESOLUTIONS },
  billing: (order) => ({ variant: order.resolution, quantity: order.duration, settle: 'per-output' }),
});
