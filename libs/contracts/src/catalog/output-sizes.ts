import type { OutputPlan, OutputSize } from './media-order.js';

/** One silent video without extras; what a family adds is given in `more`. */
export const videoOutput = (
  size: OutputSize,
  durationSeconds: number,
  more: { count?: number; audio?: boolean; lastFrame?: boolean; watermark?: boolean } = {},
): OutputPlan => ({
  medium: 'video',
  count: 1,
  size,
  durationSeconds,
  audio: false,
  lastFrame: false,
  watermark: false,
  ...more,
});

interface Pixels {
  readonly width: number;
  readonly height: number;
}

const pixels = (width: number, height: number): Pixels => ({ width, height });

/**
 * Output sizes by resolution and ratio. Those of 480p, 720p and 1080p in 16:9, 9:16, 1:1, 4:3 and 3:4 are specified. The
 * others keep the area of their resolution and take the exact ratio, with even sides, as encoders need them.
 */
const VIDEO_PIXELS = {
  '480p': {
    '16:9': pixels(832, 480),
    '9:16': pixels(480, 832),
    '1:1': pixels(624, 624),
    '4:3': pixels(728, 546),
    '3:4': pixels(546, 728),
    '21:9': pixels(966, 414),
  },
  '512p': { '16:9': pixels(910, 512) },
  '540p': {
    '16:9': pixels(960, 540),
    '9:16': pixels(540, 960),
    '1:1': pixels(720, 720),
    '4:3': pixels(832, 624),
    '3:4': pixels(624, 832),
  },
  '720p': {
    '16:9': pixels(1280, 720),
    '9:16': pixels(720, 1280),
    '1:1': pixels(960, 960),
    '4:3': pixels(1088, 832),
    '3:4': pixels(832, 1088),
    '21:9': pixels(1470, 630),
  },
  '768p': { '16:9': pixels(1366, 768) },
  '1080p': {
    '16:9': pixels(1920, 1080),
    '9:16': pixels(1080, 1920),
    '1:1': pixels(1440, 1440),
    '4:3': pixels(1632, 1248),
    '3:4': pixels(1248, 1632),
    '21:9': pixels(2198, 942),
  },
  '4k': { '16:9': pixels(3840, 2160), '9:16': pixels(2160, 3840) },
} as const satisfies Record<string, { readonly '16:9': Pixels } & Readonly<Record<string, Pixels>>>;

/** Resolution classes of all video families; the documents write some in capitals. */
type VideoResolution = keyof typeof VIDEO_PIXELS | Uppercase<keyof typeof VIDEO_PIXELS>;

/** Resolutions are spelled in either case; this table is in lower case. */
const sizesOf = (resolution: VideoResolution) => VIDEO_PIXELS[resolution.toLowerCase() as keyof typeof VIDEO_PIXELS];

/**
 * The size of a resolution and ratio.
 *
 * @throws RangeError when no family offers the pair, which the field tables exclude.
 */
export function videoSize(resolution: VideoResolution, ratio: string): OutputSize {
  const sizes: Readonly<Record<string, Pixels>> = sizesOf(resolution);
  const size = sizes[ratio];
  if (!size) throw new RangeError(`no video size for ${resolution} ${ratio}`);
  return { kind: 'fixed', ...size };
}

/** The ratio of a referenced image or video, at the area that the resolution has in 16:9. */
export function videoSizeLike(param: string, resolution: VideoResolution): OutputSize {
  const { width, height } = sizesOf(resolution)['16:9'];
  return { kind: 'like-reference', param, pixels: width * height, multipleOf: 2 };
}

/** Output pixels of eta and theta by ratio and resolution. */
export const IMAGE_PIXELS = {
  '1:1': { '1K': [1024, 1024], '2K': [2048, 2048] },
  '4:3': { '1K': [1152, 864], '2K': [2048, 1536] },
  '3:4': { '1K': [864, 1152], '2K': [1536, 2048] },
  '16:9': { '1K': [1280, 720], '2K': [2048, 1152] },
  '9:16': { '1K': [720, 1280], '2K': [1152, 2048] },
  '3:2': { '1K': [1248, 832], '2K': [2048, 1360] },
  '2:3': { '1K': [832, 1248], '2K': [1360, 2048] },
} as const satisfies Record<string, Record<'1K' | '2K', readonly [width: number, height: number]>>;

/** The size of one cell of a pixel table. */
export const fixedSize = ([width, height]: readonly [number, number]): OutputSize => ({ kind: 'fixed', width, height });

/** How long the result links of iota and kappa live, in seconds. */
export const DAY_SECONDS = 86_400;
