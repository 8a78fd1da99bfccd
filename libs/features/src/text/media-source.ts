import type { MediaSource } from '#contracts';

/** Inline media; many clients call one type by a name that not all vendors take. */
export const inlineMedia = (mediaType: string, base64: string): Extract<MediaSource, { kind: 'inline' }> => ({
  kind: 'inline',
  mediaType: mediaType === 'image/jpg' ? 'image/jpeg' : mediaType,
  base64,
});

const DATA_URI = /^data:([^;,]+);base64,/;

/** Reads a URL or data URI. A text that is neither is taken as bare base64 of unknown type. */
export function readMediaAddress(address: string): MediaSource {
  const head = DATA_URI.exec(address.slice(0, 200));
  if (head) return inlineMedia(head[1] ?? '', address.slice(head[0].length));
  if (/^https?:/i.test(address)) return { kind: 'url', url: address };
  return { kind: 'inline', mediaType: 'application/pdf', base64: address };
}
