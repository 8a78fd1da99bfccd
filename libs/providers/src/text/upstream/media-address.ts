import type { MediaSource } from '#contracts';

/** An image or file as one string: its URL, or a data URI. */
export const mediaAddress = (source: MediaSource): string =>
  source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.base64}`;
