import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { type Field, fieldsOf, type FileSource } from './field.js';

/** Longest URL accepted, in characters: room for presigned links, far below what a row or a log should hold. */
export const MAX_URL_LENGTH = 8_192;

/** More than any host has, with its port. */
const AUTHORITY_MAX = 512;
const LONG_AUTHORITY = new RegExp(String.raw`^[^/\\?#]*[/\\]*[^/\\?#]{${AUTHORITY_MAX + 1}}`);

/**
 * Whether the host of an absolute URL is short enough to be parsed. Parsers of URLs take time by the square of its length: a host of 30,000
 * Chinese characters stops the process for more than a second.
 */
export const hasParsableHost = (text: string): boolean => !LONG_AUTHORITY.test(text.replaceAll(/[\t\n\r]/g, ''));

/** Whether a text from outside is a URL, of any scheme with a host, and not too long for one. */
export const isParsableUrl = (text: string): boolean =>
  text.length <= MAX_URL_LENGTH && hasParsableHost(text) && URL.canParse(text);

const WEB_URL = /^https?:\/\/[^\s\p{Cc}\p{Surrogate}]+$/iu;
const HTTPS_URL = /^https:\/\/[^\s\p{Cc}\p{Surrogate}]+$/iu;
const DATA_URI_HEAD = /^data:image\/([a-z+.-]{1,16});base64,/;
/** Digits of base64 that are checked in less than a millisecond. */
const LONG_DIGITS = 512 * 1024;

const NOT_BASE64 = /[^A-Za-z0-9+/]/;

/** What a file may be given as, as the end of a sentence: "a public http(s) URL or …". */
export function allowedSource(source: FileSource): string {
  const url = source.httpsOnly ? 'a public https URL' : 'a public http(s) URL';
  if (source.inline.length === 0) return url;
  return `${url} or a data URI that begins with ${source.inline.map((format) => `data:image/${format};base64,`).join(' or ')}`;
}

/**
 * Says what is wrong with a text that should point at a file, or null when nothing is.
 * Only the text is judged: what the file holds is checked where it is read.
 */
export function wrongSource(value: string, source: FileSource): string | null {
  if (value.startsWith('data:')) return wrongDataUri(value, source);
  if (value.length > MAX_URL_LENGTH) return `must be a URL of at most ${MAX_URL_LENGTH} characters`;
  const pattern = source.httpsOnly ? HTTPS_URL : WEB_URL;
  return pattern.test(value) && isParsableUrl(value) ? null : `must be ${allowedSource(source)}`;
}

function wrongDataUri(value: string, source: FileSource): string | null {
  const format = DATA_URI_HEAD.exec(value.slice(0, 64));
  if (!format || !source.inline.some((allowed) => allowed === format[1]))
    return source.inline.length === 0
      ? `must be ${allowedSource(source)}; inline data (base64) is not supported here`
      : `must be ${allowedSource(source)}`;
  const start = format[0].length;
  const padding = value.endsWith('==') ? 2 : value.endsWith('=') ? 1 : 0;
  const digits = value.length - start - padding;
  if (digits <= 0) return 'must carry data after the prefix data:image/…;base64,';
  if (Math.floor((digits * 3) / 4) > source.maxInlineBytes)
    return `must hold at most ${source.maxInlineBytes / 1024 / 1024} MB of decoded data`;
  // A long one is not checked whole here; the step that decodes it finds what is wrong with it.
  if (digits > LONG_DIGITS) return null;
  return NOT_BASE64.test(value.slice(start, value.length - padding))
    ? 'must carry plain base64 after the prefix'
    : null;
}

/** A URL of a submission, and where in its body it stands: `image_with_roles[1].url`. */
interface FileUrl {
  readonly param: string;
  readonly url: string;
}

/**
 * Every URL that a checked request points at a file with, in the order of the table. Also those that its model leaves
 * unread, such as the second of a list whose first is used; inline files are left out.
 *
 * @param fields the table of the family.
 * @param parameters of a request that the family accepted.
 */
export function fileUrls(fields: readonly Field[], parameters: JsonObject): FileUrl[] {
  return urlsIn(fields, parameters, '');
}

function urlsIn(fields: readonly Field[], values: JsonObject, prefix: string): FileUrl[] {
  return fields.flatMap((field) => {
    const value = values[field.name];
    return value === undefined || value === null ? [] : urlsAt(field, value, prefix + field.name);
  });
}

function urlsAt(field: Field, value: JsonValue, param: string): FileUrl[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => urlsAt(field, item, `${param}[${index}]`));
  if (field.kind === 'object' || field.kind === 'objects')
    return isJsonObject(value) ? urlsIn(fieldsOf(field.item), value, `${param}.`) : [];
  const pointsAtFile = field.kind === 'file' || field.kind === 'files';
  return pointsAtFile && typeof value === 'string' && !value.startsWith('data:') ? [{ param, url: value }] : [];
}
