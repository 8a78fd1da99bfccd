import type { MediaReference } from '../media-order.js';
import {
  AudioUrls,
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
import { defineFamily, need, refuse } from '../model-family.js';
import { filesAt, GENERAL_AUDIO, GENERAL_IMAGE, GENERAL_VIDEO, imagesWithRoles, ratioSource } from '../references.js';
import { isVisible } from '../../unicode-text.js';
import { videoOutput, videoSize, videoSizeLike } from '../output-sizes.js';

const MODELS = ['alpha-2.0', 'alpha-2.0-fast', 'alpha-2.0-face', 'alpha-2.0-fast-face'] as const;
const SIZES = ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9', 'adaptive'] as const;
const RESOLUTIONS = ['480p', '720p', '1080p'] as const;
/** Those of every model but alpha-2.0-face. */
const SMALLER = ['480p', '720p'] as const;
const ROLES = ['first_frame', 'last_frame'] as const;

/** Entry of `image_with_roles` of family alpha. */
export class AlphaFrame {
  @ImageUrl({ required: true })
  url!: string;

  @Choice(ROLES, { required: true })
  role!: (typeof ROLES)[number];
}

/** Entry of `tools` of family alpha; the document names web_search as an example. */
export class AlphaTool {
  @Text({ required: true, max: 64, note: 'For example web_search.' })
  type!: string;
}

/** Fields of the alpha family. */
export class AlphaRequest {
  @Choice(MODELS, { required: true })
  model!: (typeof MODELS)[number];

  @Text({ note: 'Subject, action, camera, style. Required without reference images or videos.' })
  prompt?: string;

  @Whole({ min: 4, max: 15, default: 5, note: 'Seconds.' })
  duration!: number;

  @Choice(SIZES, { default: '16:9', note: 'adaptive takes the ratio of the input image or video.' })
  size!: (typeof SIZES)[number];

  @Resolution(RESOLUTIONS, {
    only: { 'alpha-2.0': SMALLER, 'alpha-2.0-fast': SMALLER, 'alpha-2.0-fast-face': SMALLER },
    default: '480p',
    note: '1080p on alpha-2.0-face only.',
  })
  resolution!: (typeof RESOLUTIONS)[number];

  @Whole({ min: -1, max: 4_294_967_295, note: '-1 is random.' })
  seed?: number;

  @Flag({ default: false, note: 'True: the video carries generated audio.' })
  generate_audio!: boolean;

  @Flag({ default: false, note: 'True: the result also carries the last frame as an image.' })
  return_last_frame!: boolean;

  @ObjectList(AlphaTool)
  tools?: AlphaTool[];

  @ImageUrls({ max: 9, note: 'A single image is the first frame.' })
  image_urls?: string[];

  @ObjectList(AlphaFrame, { max: 2, note: 'First and last frame; not together with other references.' })
  image_with_roles?: AlphaFrame[];

  @VideoUrls({ max: 3, note: 'Reference videos: 15 s together, each 480p to 720p.' })
  video_urls?: string[];

  @AudioUrls({ max: 3, note: 'Reference audio: 15 s together; needs reference images or videos.' })
  audio_urls?: string[];
}

/** True when an image or video is given, so that prompt may be missing and adaptive has a ratio to take. */
const hasImage = (sent: Partial<AlphaRequest>) =>
  sent.image_urls !== undefined || sent.image_with_roles !== undefined || sent.video_urls !== undefined;

const imageRole = (order: AlphaRequest) =>
  order.image_urls?.length === 1 && !order.video_urls && !order.audio_urls ? 'first_frame' : 'reference';

const references = (order: AlphaRequest): MediaReference[] => [
  ...filesAt('image_urls', order.image_urls, 'image', imageRole(order), GENERAL_IMAGE),
  ...imagesWithRoles(order.image_with_roles, GENERAL_IMAGE),
  ...filesAt('video_urls', order.video_urls, 'video', 'reference', {
    ...GENERAL_VIDEO,
    minShortSidePixels: 480,
    maxShortSidePixels: 720,
    maxSeconds: 15,
  }),
  ...filesAt('audio_urls', order.audio_urls, 'audio', 'reference', { ...GENERAL_AUDIO, maxSeconds: 15 }),
];

const outputSize = (order: AlphaRequest) => {
  if (order.size !== 'adaptive') return videoSize(order.resolution, order.size);
  return videoSizeLike(ratioSource(references(order)) ?? 'image_urls[0]', order.resolution);
};

function modeOf(sent: Partial<AlphaRequest>) {
  if (sent.image_with_roles) return sent.image_with_roles.length === 2 ? 'first-last-frame' : 'image-to-video';
  if (sent.video_urls || sent.audio_urls) return 'reference-to-video';
  if (sent.image_urls) return sent.image_urls.length === 1 ? 'image-to-video' : 'reference-to-video';
  return 'text-to-video';
}

export const alpha = defineFamily(AlphaRequest, {
  id: 'alpha',
  summary: 'Videos from text, frames, or reference images, videos and audio; the face models allow real people.',
  example: {
    model: 'alpha-2.0',
    prompt: 'A heron lifts off a misty lake.',
    duration: 5,
    size: '16:9',
    resolution: '720p',
    generate_audio: true,
  },
  medium: 'video',
  modes: ['text-to-video', 'image-to-video', 'first-last-frame', 'reference-to-video'],
  mode: modeOf,
  rules: [
    need(
      'prompt',
      'prompt is required for text-to-video: send prompt, or reference images or videos.',
      (sent) => !hasImage(sent) && !isVisible(sent.prompt),
    ),
    refuse(
      'image_with_roles',
      'image_with_roles and image_urls exclude each other: send one of them.',
      (sent) => sent.image_with_roles !== undefined && sent.image_urls !== undefined,
    ),
    refuse(
      'image_with_roles',
      'image_with_roles cannot be combined with video_urls or audio_urls: use image_urls for reference images.',
      (sent) => sent.image_with_roles !== undefined && (sent.video_urls !== undefined || sent.audio_urls !== undefined),
    ),
    refuse(
      'image_with_roles',
      'image_with_roles takes at most one first_frame and one last_frame.',
      (sent) =>
        sent.image_with_roles?.[1] !== undefined && sent.image_with_roles[0]?.role === sent.image_with_roles[1].role,
    ),
    refuse(
      'audio_urls',
      'audio_urls must accompany reference images or videos: add image_urls or video_urls.',
      (sent) => sent.audio_urls !== undefined && !hasImage(sent),
    ),
    refuse(
      'size',
      'size adaptive takes the ratio of an input image or video: add one, or choose a ratio.',
      (sent) => sent.size === 'adaptive' && !hasImage(sent),
    ),
  ],
  references,
  totalSeconds: () => [
    { param: 'video_urls', medium: 'video', maxSeconds: 15 },
    { param: 'audio_urls', medium: 'audio', maxSeconds: 15 },
  ],
  output: (order) =>
    videoOutput(outputSize(order), order.duration, {
      audio: order.generate_audio,
      lastFrame: order.return_last_frame,
    }),
  variants: {
    'alpha-2.0': SMALLER,
    'alpha-2.0-fast': SMALLER,
    'alpha-2.0-face': RESOLUTIONS,
    'alpha-2.0-fast-face': SMALLER,
  },
  billing: (order) => ({ variant: order.resolution, quantity: order.duration, settle: 'per-output' }),
});
