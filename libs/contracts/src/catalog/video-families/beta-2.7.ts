import {
  AudioUrl,
  Choice,
  Flag,
  ImageUrl,
  ImageUrls,
  ObjectList,
  Resolution,
  Text,
  VideoUrls,
  Whole,
} from '../fields.js';
import type { MediaReference } from '../media-order.js';
import { defineFamily, need, refuse } from '../model-family.js';
import {
  BETA_VIDEO,
  fileAt,
  filesAt,
  GENERAL_AUDIO,
  GENERAL_IMAGE,
  imagesWithRoles,
  ratioSource,
} from '../references.js';
import { isVisible } from '../../unicode-text.js';
import { videoOutput, videoSize, videoSizeLike } from '../output-sizes.js';

const MODELS = ['beta-2.7'] as const;
const SIZES = ['16:9', '9:16', '1:1', '4:3', '3:4'] as const;
const RESOLUTIONS = ['720P', '1080P'] as const;
const ROLES = ['first_frame', 'last_frame'] as const;

export class Beta27Frame {
  @ImageUrl({ required: true })
  url!: string;

  @Choice(ROLES, { default: 'first_frame' })
  role!: (typeof ROLES)[number];
}

export class Beta27Request {
  @Choice(MODELS, { required: true })
  model!: (typeof MODELS)[number];

  @Text({ max: 5000, note: 'Required in text mode.' })
  prompt?: string;

  @ImageUrls({ max: 2, note: '1 image: first frame; 2 images: first then last frame.' })
  image_urls?: string[];

  @ObjectList(Beta27Frame, { max: 2, note: 'Alternative to image_urls.' })
  image_with_roles?: Beta27Frame[];

  @VideoUrls({ note: 'A video to continue; only the first is used. mp4 or mov, 2 to 10 s, at most 100 MB.' })
  video_urls?: string[];

  @Text({ max: 500, note: 'Content to avoid.' })
  negative_prompt?: string;

  @Resolution(RESOLUTIONS, { default: '1080P' })
  resolution!: (typeof RESOLUTIONS)[number];

  @Whole({ min: 2, max: 15, default: 5, note: 'Seconds.' })
  duration!: number;

  @Choice(SIZES, { default: '16:9', defaultModes: ['text-to-video'], note: 'Text mode only; otherwise ignored.' })
  size!: (typeof SIZES)[number];

  @AudioUrl({
    note: 'Background music in text mode, driving audio in image mode. wav or mp3, 2 to 30 s, at most 15 MB.',
  })
  audio_url?: string;

  @Flag({ default: true, note: 'Intelligent prompt rewriting; adds latency.' })
  prompt_extend!: boolean;

  @Flag({ default: false, note: 'Label that says AI-generated.' })
  watermark!: boolean;

  @Whole({ min: 0, max: Number.MAX_SAFE_INTEGER })
  seed?: number;
}

/** Any of the three puts the request into image mode. */
const isImageMode = (sent: Partial<Beta27Request>) =>
  sent.image_urls !== undefined || sent.image_with_roles !== undefined || sent.video_urls !== undefined;

const roleOf = (frame: Partial<Beta27Frame>) => frame.role ?? 'first_frame';

function modeOf(sent: Partial<Beta27Request>) {
  if (sent.video_urls) return 'video-continuation';
  const frames = sent.image_urls ?? sent.image_with_roles;
  if (!frames) return 'text-to-video';
  return frames.length === 2 ? 'first-last-frame' : 'image-to-video';
}

const references = (order: Beta27Request): MediaReference[] => [
  ...filesAt('image_urls', order.image_urls?.slice(0, 1), 'image', 'first_frame', GENERAL_IMAGE),
  ...fileAt('image_urls[1]', order.image_urls?.[1], 'image', 'last_frame', GENERAL_IMAGE),
  ...imagesWithRoles(order.image_with_roles, GENERAL_IMAGE),
  ...fileAt('video_urls[0]', order.video_urls?.[0], 'video', 'reference', {
    ...BETA_VIDEO,
    minSeconds: 2,
    maxSeconds: 10,
  }),
  ...fileAt('audio_url', order.audio_url, 'audio', 'soundtrack', { ...GENERAL_AUDIO, minSeconds: 2, maxSeconds: 30 }),
];

export const beta27 = defineFamily(Beta27Request, {
  id: 'beta-2.7',
  summary: 'Videos from text, first and last frames, or as the continuation of a video.',
  example: {
    model: 'beta-2.7',
    image_urls: ['https://media.example.com/first.png', 'https://media.example.com/last.png'],
    duration: 8,
  },
  medium: 'video',
  modes: ['text-to-video', 'image-to-video', 'first-last-frame', 'video-continuation'],
  mode: modeOf,
  rules: [
    need(
      'prompt',
      'prompt is required in text mode: send prompt, or image_urls, image_with_roles or video_urls.',
      (sent) => !isImageMode(sent) && !isVisible(sent.prompt),
    ),
    refuse(
      'image_with_roles',
      'image_with_roles and image_urls exclude each other: send one of them.',
      (sent) => sent.image_with_roles !== undefined && sent.image_urls !== undefined,
    ),
    refuse(
      'video_urls',
      'video_urls cannot be combined with image_urls: send one of them.',
      (sent) => sent.video_urls !== undefined && sent.image_urls !== undefined,
    ),
    refuse(
      'video_urls',
      'video_urls cannot be combined with a first_frame image; a last_frame image alone is allowed.',
      (sent) =>
        sent.video_urls !== undefined &&
        sent.image_with_roles !== undefined &&
        sent.image_with_roles.some((frame) => roleOf(frame) === 'first_frame'),
    ),
    refuse(
      'audio_url',
      'audio_url cannot be combined with video_urls: send one of them.',
      (sent) => sent.audio_url !== undefined && sent.video_urls !== undefined,
    ),
    refuse(
      'image_with_roles',
      'image_with_roles takes at most one first_frame, which is the role of an image without one, and one last_frame.',
      (sent) => {
        const [first, second] = sent.image_with_roles ?? [];
        return first !== undefined && second !== undefined && roleOf(first) === roleOf(second);
      },
    ),
  ],
  notices: [
    {
      message: 'size is ignored in image mode: the ratio follows the input.',
      drops: 'size',
      applies: (sent) => sent.size !== undefined && isImageMode(sent),
    },
    {
      message: 'Only the first of video_urls is used.',
      applies: (sent) => sent.video_urls !== undefined && sent.video_urls.length > 1,
    },
  ],
  references,
  output: (order) => {
    const like = ratioSource(references(order));
    return videoOutput(
      like === undefined ? videoSize(order.resolution, order.size) : videoSizeLike(like, order.resolution),
      order.duration,
      { audio: order.audio_url !== undefined, watermark: order.watermark },
    );
  },
  variants: { 'beta-2.7': RESOLUTIONS },
  // Both modes are billed identically.
  billing: (order) => ({ variant: order.resolution, quantity: order.duration, settle: 'per-output' }),
});
