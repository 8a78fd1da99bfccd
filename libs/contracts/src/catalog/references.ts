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
