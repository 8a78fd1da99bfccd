import { isParsableUrl } from '../catalog/file-source.js';
import type { FieldCheck, Report } from './body-check.js';

/** Largest inline image, in decoded bytes: 20 MB. */
export const MAX_INLINE_IMAGE_BYTES = 20 * 1024 * 1024;

/** Image formats a request may carry. */
export const IMAGE_MEDIA_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const;

/** Many clients write `jpg`, and the vendors of these interfaces take it. */
const DATA_PREFIX = /^data:image\/(jpe?g|png|gif|webp);base64,/;
/** Longer texts are checked a piece at a time. */
const LONG_CHARACTERS = 256 * 1024;

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
      `${param} holds ${bytes} bytes; an image may hold at most 20 MB (20971520 bytes).`,
    );
}

function checkDigits(text: string, param: string, message: string, report: Report): void {
  if (report.later && text.length > LONG_CHARACTERS) report.later({ param, text, wrong: NOT_BASE64, message });
  else if (text === '' || NOT_BASE64.test(text)) report(param, 'invalid_parameter', message);
}

const isWebAddress = (text: string): boolean => /^https?:\/\/[^/]/i.test(text) && isParsableUrl(text);

/** An http(s) address. */
export function webAddress(): FieldCheck {
  return (value, param, report) => {
    if (typeof value !== 'string' || !isWebAddress(value))
      report(param, 'invalid_parameter', `${param} must be a public http or https URL.`);
  };
}

/** An image: a public http(s) URL, or a data URI with its whole prefix. */
export function imageAddress(): FieldCheck {
  return (value, param, report) => {
    if (typeof value !== 'string') return report(param, 'invalid_parameter', `${param} must be a string.`);
    if (isWebAddress(value)) return;
    const prefix = DATA_PREFIX.exec(value.slice(0, 40))?.[0];
    if (!prefix)
      return report(
        param,
        'invalid_parameter',
        `${param} must be an http(s) URL or a data URI that begins with data:image/<format>;base64, where <format> is jpeg, png, gif or webp.`,
      );
    const bytes = decodedBytes(value, prefix.length);
    if (bytes > MAX_INLINE_IMAGE_BYTES) return checkSize(bytes, param, report);
    const digits = value.slice(prefix.length);
    checkDigits(digits, param, `${param} must contain valid base64 after its prefix.`, report);
  };
}

/** The base64 of an inline image or document, without a prefix. */
export function base64Data(): FieldCheck {
  return (value, param, report) => {
    if (typeof value !== 'string' || value === '')
      return report(param, 'invalid_parameter', `${param} must be base64 text without a data: prefix.`);
    // What is too large is refused unread: scanning 60 MB blocks the event loop.
    const bytes = decodedBytes(value);
    if (bytes > MAX_INLINE_IMAGE_BYTES) checkSize(bytes, param, report);
    else checkDigits(value, param, `${param} must be base64 text without a data: prefix.`, report);
  };
}

const INLINE_FILE = /^data:[^;,]{1,100};base64,/;

/** A document inside the request: a data URI, or the base64 of one. An address is none of them: its content is unchecked. */
export function inlineFile(): FieldCheck {
  const bare = base64Data();
  return (value, param, report) => {
    const prefix = typeof value === 'string' ? INLINE_FILE.exec(value.slice(0, 128))?.[0] : undefined;
    if (typeof value !== 'string' || prefix === undefined) return bare(value, param, report);
    const bytes = decodedBytes(value, prefix.length);
    if (bytes > MAX_INLINE_IMAGE_BYTES) return checkSize(bytes, param, report);
    checkDigits(value.slice(prefix.length), param, `${param} must contain valid base64 after its prefix.`, report);
  };
}
