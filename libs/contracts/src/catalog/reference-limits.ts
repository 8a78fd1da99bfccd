import type { MediaLimits } from './media-order.js';

const MEGABYTE = 1024 * 1024;

/** Largest image where a family states no size of its own, in bytes: the same as for images in text requests. */
export const GENERAL_IMAGE_MAX_BYTES = 20 * MEGABYTE;

/** Images of families that state no limits: the types and the size that text requests allow. */
export const GENERAL_IMAGE = {
  formats: ['png', 'jpeg', 'webp', 'gif'],
  maxBytes: GENERAL_IMAGE_MAX_BYTES,
} as const satisfies MediaLimits;

/** Videos of families that state no size or type: the limits of the beta families. */
export const GENERAL_VIDEO = { formats: ['mp4', 'mov'], maxBytes: 100 * MEGABYTE } as const satisfies MediaLimits;

/** Audio of families that state no size or type: the limits of the beta families. */
export const GENERAL_AUDIO = { formats: ['wav', 'mp3'], maxBytes: 15 * MEGABYTE } as const satisfies MediaLimits;

/** Sides and ratio of reference videos of the beta families. */
export const BETA_VIDEO = {
  ...GENERAL_VIDEO,
  minSidePixels: 240,
  maxSidePixels: 4096,
  ratio: { min: 1 / 8, max: 8 },
} as const satisfies MediaLimits;
