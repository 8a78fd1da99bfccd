import { Choice, Flag, ImageUrls, OneObject, Resolution, Text, Whole } from '../fields.js';
import type { MediaLimits, OutputSize } from '../media-order.js';
import { defineFamily, refuse } from '../model-family.js';
import { filesAt } from '../references.js';
import { DAY_SECONDS, fixedSize } from '../output-sizes.js';

const MODELS = ['kappa-a-4-0', 'kappa-b-4.0', 'kappa-b-4-0', 'Kappa-B-4.0'] as const;
const SIZES = ['1:1', '4:3', '3:4', '16:9', '9:16', '3:2', '2:3', '21:9', '9:21', 'auto'] as const;
const RESOLUTIONS = ['1K', '2K', '4K'] as const;
const OPTIMISATIONS = ['standard', 'fast'] as const;
const SEQUENCES = ['disabled', 'auto'] as const;

/** Most reference images and results together. */
const MAX_IMAGES = 15;

/**
 * Output pixels of kappa. 1:1 and 16:9 are what was specified; the other ratios begin at the 1K sizes of eta and double with
 * each step of resolution as 1:1 does, and so does 21:9.
 */
const KAPPA_PIXELS = {
  '1:1': { '1K': [1024, 1024], '2K': [2048, 2048], '4K': [4096, 4096] },
  '4:3': { '1K': [1152, 864], '2K': [2304, 1728], '4K': [4608, 3456] },
  '3:4': { '1K': [864, 1152], '2K': [1728, 2304], '4K': [3456, 4608] },
  '16:9': { '1K': [1280, 720], '2K': [2560, 1440], '4K': [5404, 3040] },
  '9:16': { '1K': [720, 1280], '2K': [1440, 2560], '4K': [3040, 5404] },
  '3:2': { '1K': [1248, 832], '2K': [2496, 1664], '4K': [4992, 3328] },
  '2:3': { '1K': [832, 1248], '2K': [1664, 2496], '4K': [3328, 4992] },
  '21:9': { '1K': [1512, 648], '2K': [3024, 1296], '4K': [6048, 2592] },
  '9:21': { '1K': [648, 1512], '2K': [1296, 3024], '4K': [2592, 6048] },
} as const satisfies Record<string, Record<(typeof RESOLUTIONS)[number], readonly [width: number, height: number]>>;

const REFERENCE_IMAGE: MediaLimits = {
  formats: ['jpeg', 'png'],
  maxBytes: 10 * 1024 * 1024,
  minSidePixels: 15,
  maxPixels: 6000 * 6000,
  ratio: { min: 1 / 3, max: 3 },
};

/** Object `sequential_image_generation_options` of kappa. */
export class KappaSequenceOptions {
  @Whole({ min: 1, max: MAX_IMAGES, note: 'Number of images.' })
  max_images?: number;
}

/** Fields of the kappa family. */
export class KappaRequest {
  @Choice(MODELS, { required: true })
  model!: (typeof MODELS)[number];

  @Text({ required: true, max: 1000 })
  prompt!: string;

  @Choice(SIZES, { default: '1:1', note: 'Aspect ratio; auto takes that of the reference image and needs image_urls.' })
  size!: (typeof SIZES)[number];

  @Resolution(RESOLUTIONS, { default: '2K' })
  resolution!: (typeof RESOLUTIONS)[number];

  @Whole({
    min: 1,
    max: MAX_IMAGES,
    default: 1,
    note: 'Number of images, charged in advance; with image_urls, 15 together.',
  })
  n!: number;

  @ImageUrls({ max: 10, inline: ['jpeg', 'png'], maxInlineBytes: REFERENCE_IMAGE.maxBytes, note: 'Reference images.' })
  image_urls?: string[];

  @Choice(OPTIMISATIONS, { default: 'standard', note: 'standard: better, slower; fast: quicker, average.' })
  optimize_prompt_options!: (typeof OPTIMISATIONS)[number];

  @Choice(SEQUENCES, { default: 'disabled', note: 'auto allows several images; n above 1 sets it.' })
  sequential_image_generation!: (typeof SEQUENCES)[number];

  @OneObject(KappaSequenceOptions, { note: 'Only with sequential_image_generation auto.' })
  sequential_image_generation_options?: KappaSequenceOptions;

  @Flag({ default: false })
  watermark!: boolean;
}

/** How many images are asked for: the larger of `n` and `max_images`. */
const wanted = (sent: Partial<KappaRequest>) =>
  Math.max(sent.n ?? 1, sent.sequential_image_generation_options?.max_images ?? 1);

/** Several images are made only on the basis of a reference image. */
const produced = (order: Partial<KappaRequest>) => (order.image_urls ? wanted(order) : 1);

function outputSize({ size, resolution }: KappaRequest): OutputSize {
  if (size !== 'auto') return fixedSize(KAPPA_PIXELS[size][resolution]);
  const [width, height] = KAPPA_PIXELS['1:1'][resolution];
  return { kind: 'like-reference', param: 'image_urls[0]', pixels: width * height, multipleOf: 8 };
}

export const kappa = defineFamily(KappaRequest, {
  id: 'kappa',
  summary: 'Images up to 4K from a text or from reference images; several at once on the basis of a reference.',
  example: {
    model: 'kappa-a-4-0',
    prompt: 'The same dog in three seasons.',
    image_urls: ['https://media.example.com/dog.jpg'],
    n: 3,
    size: 'auto',
  },
  medium: 'image',
  modes: ['text-to-image', 'image-to-image'],
  mode: (sent) => (sent.image_urls ? 'image-to-image' : 'text-to-image'),
  rules: [
    refuse(
      'size',
      'size auto takes the ratio of a reference image: add image_urls, or choose a ratio.',
      (sent) => sent.size === 'auto' && sent.image_urls === undefined,
    ),
    refuse(
      'n',
      `n (or max_images, the larger counts) and image_urls must be ${MAX_IMAGES} or fewer together.`,
      (sent) => (sent.image_urls?.length ?? 0) + wanted(sent) > MAX_IMAGES,
    ),
    refuse(
      'sequential_image_generation_options',
      'sequential_image_generation_options needs sequential_image_generation auto, or n above 1, which sets it.',
      (sent) =>
        sent.sequential_image_generation_options !== undefined &&
        sent.sequential_image_generation !== 'auto' &&
        (sent.n ?? 1) === 1,
    ),
  ],
  notices: [
    {
      message:
        'Several images need at least one reference image: this request produces one image. The hold covers all requested images, the charge only what is produced.',
      applies: (sent) => wanted(sent) > produced(sent),
    },
  ],
  sets: (order) => ({ sequential_image_generation: order.n > 1 ? 'auto' : order.sequential_image_generation }),
  references: (order) => filesAt('image_urls', order.image_urls, 'image', 'reference', REFERENCE_IMAGE),
  output: (order) => ({
    medium: 'image',
    count: produced(order),
    size: outputSize(order),
    watermark: order.watermark,
  }),
  variants: {
    'kappa-a-4-0': RESOLUTIONS,
    'kappa-b-4.0': RESOLUTIONS,
    'kappa-b-4-0': RESOLUTIONS,
    'Kappa-B-4.0': RESOLUTIONS,
  },
  // Held in advance according to n. The vendor decides how many of several it makes, so only what it delivered is charged.
  billing: (order) => ({
    variant: order.resolution,
    quantity: wanted(order),
    settle: wanted(order) > 1 ? 'per-output' : 'as-held',
  }),
  resultTtlSeconds: DAY_SECONDS,
});
