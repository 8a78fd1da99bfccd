import { AudioUrl, Choice, Flag, ImageUrl, ObjectList, Resolution, Text, VideoUrls, Whole } from '../fields.js';
import type { MediaReference } from '../media-order.js';
import { defineFamily, need, refuse } from '../model-family.js';
import { BETA_VIDEO, fileAt, filesAt, GENERAL_AUDIO, GENERAL_IMAGE, imagesWithRoles } from '../references.js';
import { videoOutput, videoSize, videoSizeLike } from '../output-sizes.js';

const MODELS = ['beta-2.7-r2v'] as const;
const SIZES = ['16:9', '9:16', '1:1', '4:3', '3:4'] as const;
const RESOLUTIONS = ['720P', '1080P'] as const;
const ROLES = ['reference_image', 'first_frame'] as const;

/** Most images and videos together. */
const MAX_REFERENCES = 5;

export class Beta27R2vImage {
  @ImageUrl({ required: true })
  url!: string;

  @Choice(ROLES, { default: 'reference_image' })
  role!: (typeof ROLES)[number];

  @AudioUrl({ note: 'A voice sample for this character.' })
  reference_voice?: string;
}

export class Beta27R2vRequest {
  @Choice(MODELS, { required: true })
  model!: (typeof MODELS)[number];

  @Text({ required: true, max: 5000, note: 'Names inputs by their order: 图1, 视频1, or first image, first video.' })
  prompt!: string;

  @ObjectList(Beta27R2vImage, { min: 1, max: MAX_REFERENCES, note: 'This or video_urls is required; 5 together.' })
  image_with_roles?: Beta27R2vImage[];

  @VideoUrls({ min: 1, max: MAX_REFERENCES, note: 'Reference videos: mp4 or mov, 1 to 30 s, at most 100 MB each.' })
  video_urls?: string[];

  @Text({ max: 500, note: 'Content to avoid.' })
  negative_prompt?: string;

  @Resolution(RESOLUTIONS, { default: '1080P' })
  resolution!: (typeof RESOLUTIONS)[number];

  @Whole({ min: 2, max: 15, default: 5, note: 'Seconds; at most 10 with video_urls.' })
  duration!: number;

  @Choice(SIZES, {
    default: '16:9',
    defaultModes: ['reference-to-video'],
    note: 'Ignored with a first_frame image: the ratio follows it.',
  })
  size!: (typeof SIZES)[number];

  @Flag({ default: true, note: 'Intelligent prompt rewriting.' })
  prompt_extend!: boolean;

  @Flag({ default: false })
  watermark!: boolean;

  @Whole({ min: 0, max: Number.MAX_SAFE_INTEGER })
  seed?: number;
}

const firstFrames = ({ image_with_roles: images = [] }: Partial<Beta27R2vRequest>) =>
  images.filter((image) => image.role === 'first_frame').length;

const references = (order: Beta27R2vRequest): MediaReference[] => [
  ...imagesWithRoles(order.image_with_roles, GENERAL_IMAGE),
  ...filesAt('video_urls', order.video_urls, 'video', 'reference', { ...BETA_VIDEO, minSeconds: 1, maxSeconds: 30 }),
  ...(order.image_with_roles ?? []).flatMap((image, index) =>
    fileAt(`image_with_roles[${index}].reference_voice`, image.reference_voice, 'audio', 'voice', GENERAL_AUDIO),
  ),
];

export const beta27R2v = defineFamily(Beta27R2vRequest, {
  id: 'beta-2.7-r2v',
  summary: 'Videos with the characters of reference images and videos.',
  example: {
    model: 'beta-2.7-r2v',
    prompt: 'The first image waves to the first video.',
    image_with_roles: [{ url: 'https://media.example.com/hero.png' }],
    video_urls: ['https://media.example.com/dancer.mp4'],
  },
  medium: 'video',
  modes: ['reference-to-video', 'first-frame-reference-to-video'],
  mode: (sent) => (firstFrames(sent) > 0 ? 'first-frame-reference-to-video' : 'reference-to-video'),
  rules: [
    need(
      'image_with_roles',
      'image_with_roles or video_urls is required: send at least one reference.',
      (sent) => sent.image_with_roles === undefined && sent.video_urls === undefined,
    ),
    refuse(
      'image_with_roles',
      `image_with_roles and video_urls hold at most ${MAX_REFERENCES} entries together.`,
      (sent) => (sent.image_with_roles?.length ?? 0) + (sent.video_urls?.length ?? 0) > MAX_REFERENCES,
    ),
    refuse(
      'image_with_roles',
      'image_with_roles takes one first_frame image at most.',
      (sent) => firstFrames(sent) > 1,
    ),
    refuse(
      'duration',
      'duration is 2 to 10 seconds with video_urls, and 2 to 15 without.',
      (sent) => sent.video_urls !== undefined && (sent.duration ?? 0) > 10,
    ),
  ],
  notices: [
    {
      message: 'size is ignored with a first_frame image: the ratio follows it.',
      drops: 'size',
      applies: (sent) => sent.size !== undefined && firstFrames(sent) > 0,
    },
  ],
  references,
  output: (order) => {
    const files = references(order);
    const frame = files.find(({ role }) => role === 'first_frame');
    return videoOutput(
      frame ? videoSizeLike(frame.param, order.resolution) : videoSize(order.resolution, order.size),
      order.duration,
      { audio: files.some(({ role }) => role === 'voice'), watermark: order.watermark },
    );
  },
  variants: { 'beta-2.7-r2v': RESOLUTIONS },
  billing: (order) => ({ variant: order.resolution, quantity: order.duration, settle: 'per-output' }),
});
