import type { MediaSource } from '#contracts';

const DATA_URI = /^data:([^;,]+);base64,/;

/** Reads a URL or data URI. A text that is neither is taken as bare base64 of unknown type. */
export function readMediaAddress(address: string): MediaSource {
  const head = DATA_URI.exec(address.slice(0, 200));
  if (head) return { kind: 'inline', mediaType: head[1] ?? '', base64: address.slice(head[0].length) };
  if (/^https?:/i.test(address)) return { kind: 'url', url: address };
  return { kind: 'inline', mediaType: 'application/pdf', base64: address };
}
