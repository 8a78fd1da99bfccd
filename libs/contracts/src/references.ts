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
