import type { FieldCheck, Report } from './body-check.js';

/** Largest inline picture, in decoded bytes (D1 section 8: 20 MB). */
export const MAX_INLINE_IMAGE_BYTES = 20 * 1024 * 1024;

/** Picture formats a request may carry (D1 4.1). */
export const IMAGE_MEDIA_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const;

const DATA_PREFIX = /^data:image\/(jpeg|png|gif|webp);base64,/;
const NOT_BASE64 = /[^A-Za-z0-9+/_=\r\n-]/;

/** How many bytes base64 text stands for. */
export function decodedBytes(base64: string, from = 0): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.floor(((base64.length - from) * 3) / 4) - padding;
}

function checkSize(bytes: number, param: string, report: Report): void {
  if (bytes > MAX_INLINE_IMAGE_BYTES)
    report(
      param,
      'request_too_large',
      `${param} holds ${bytes} bytes; a picture may hold at most 20 MB (20971520 bytes).`,
    );
}

/** An http(s) address. */
export function webAddress(): FieldCheck {
  return (value, param, report) => {
    if (typeof value !== 'string' || !/^https?:\/\/[^/]/i.test(value) || !URL.canParse(value))
      report(param, 'invalid_parameter', `${param} must be a public http or https URL.`);
  };
}

/** A picture as D1 4.1 wants it: a public http(s) URL, or a data URI with its whole prefix. */
export function imageAddress(): FieldCheck {
  const address = webAddress();
  return (value, param, report) => {
    if (typeof value !== 'string') return report(param, 'invalid_parameter', `${param} must be a string.`);
    if (!value.startsWith('data:')) return address(value, param, report);
    const prefix = DATA_PREFIX.exec(value.slice(0, 40))?.[0];
    if (!prefix)
      return report(
        param,
        'invalid_parameter',
        `${param} must be an http(s) URL or a data URI that begins with data:image/<format>;base64, where <format> is jpeg, png, gif or webp.`,
      );
    const bytes = decodedBytes(value, prefix.length);
    if (bytes > MAX_INLINE_IMAGE_BYTES) return checkSize(bytes, param, report);
    if (value.length === prefix.length || NOT_BASE64.test(value.slice(prefix.length)))
      report(param, 'invalid_parameter', `${param} holds no valid base64 after its prefix.`);
  };
}

/** The base64 of an inline picture or document, without a prefix. */
export function base64Data(): FieldCheck {
  return (value, param, report) => {
    if (typeof value !== 'string' || value === '')
      return report(param, 'invalid_parameter', `${param} must be base64 text without a data: prefix.`);
    // What is too large is refused unread: looking through 60 MB keeps everybody waiting.
    const bytes = decodedBytes(value);
    if (bytes > MAX_INLINE_IMAGE_BYTES) checkSize(bytes, param, report);
    else if (NOT_BASE64.test(value))
      report(param, 'invalid_parameter', `${param} must be base64 text without a data: prefix.`);
  };
}
