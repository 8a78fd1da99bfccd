import type { MediaLimits, MediaReference } from './media-order.js';

/** The files of a list field; none when the field is absent. */
export const filesAt = (
  param: string,
  sources: readonly string[] | undefined,
  medium: MediaReference['medium'],
  role: MediaReference['role'],
  limits: MediaLimits,
): MediaReference[] =>
  (sources ?? []).map((source, index) => ({ param: `${param}[${index}]`, medium, role, source, limits }));

/** The file of a single field; none when the field is absent. */
export const fileAt = (
  param: string,
  source: string | undefined,
  medium: MediaReference['medium'],
  role: MediaReference['role'],
  limits: MediaLimits,
): MediaReference[] => (source === undefined ? [] : [{ param, medium, role, source, limits }]);

/** An image of a list whose entries say what they are for. */
interface ImageWithRole {
  readonly url: string;
  readonly role: 'first_frame' | 'last_frame' | 'reference_image';
}

/** The images of `image_with_roles`; none when the field is absent. */
export const imagesWithRoles = (images: readonly ImageWithRole[] | undefined, limits: MediaLimits): MediaReference[] =>
  (images ?? []).map(({ url, role }, index) => ({
    param: `image_with_roles[${index}].url`,
    medium: 'image',
    role: role === 'reference_image' ? 'reference' : role,
    source: url,
    limits,
  }));

/** The `param` of the reference whose ratio an output takes: the first frame, else the first file given. */
export const ratioSource = (references: readonly MediaReference[]): string | undefined =>
  (
    references.find(({ role }) => role === 'first_frame') ??
    references.find(({ medium, role }) => medium !== 'audio' && role !== 'last_frame') ??
    references.find(({ medium }) => medium !== 'audio')
  )?.param;

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
