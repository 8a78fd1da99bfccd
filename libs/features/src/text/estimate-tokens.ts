import { carriesFile, isAddress, isJsonObject } from '#contracts';
import type { ModelLimits } from '#providers';
import { asBuffer, ByteMatcher } from './byte-matcher.js';

/** Bodies of fewer bytes that name nothing but text are taken as text as they are; others are looked through. */
const SMALL_BODY_BYTES = 32 * 1024;

/** Bytes of text a token has at least on average; low, so that a hold is rarely too small. */
const BYTES_PER_TOKEN = 3;

/** Of a text, as they are held for. */
export const tokensHeldFor = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

/** Characters of base64 for a byte. A file may be packed, so that each of its bytes may become a token. */
const BASE64_PER_BYTE = 4 / 3;

/** Fields that hold the caller's own JSON: whatever it looks like there, a model reads it as text. */
const CALLERS_OWN = new Set(['tools', 'args', 'response', 'metadata']);

/** What a small body holds somewhere when it refers to a file or carries one; an escape may hide it. */
const SIGNS_OF_MEDIA = new ByteMatcher([
  'url',
  'uri',
  'file',
  'ata"',
  'ached',
  'source',
  'image',
  'video',
  'audio',
  'document',
  'media',
  '\\u',
]);

/** The media type at the beginning of a data URI. */
const DATA_URI = /^data:([^;,]{1,100})[;,]/;

type Fields = Readonly<Record<string, unknown>>;

/** About how many input tokens a request has. */
export interface InputEstimate {
  /** Text and images, for streams that must name a number before it is known. */
  readonly shownTokens: number;
  /** What there is of usual text, for the hold that a request needs. */
  readonly heldTokens: number;
  /** What there is where each byte of text is a token, which none is shorter than: held while there is money for it. */
  readonly mostTokens: number;
  /** True: there are files or references, whose tokens only an upstream can count. */
  readonly hasFiles: boolean;
}

/** What has been found in a body. */
interface Found {
  textTokens: number;
  images: number;
  /** Of files inside the body. */
  fileBytes: number;
  /** True: something is read from elsewhere, and may be of any length. */
  refers: boolean;
}

const isImageType = (type: unknown): boolean => typeof type === 'string' && type.startsWith('image/');
/** Enough of a text to see whether it is an address. */
const LONGEST_SCHEME = 64;

const isAddressed = ({ url, uri }: Fields): boolean => isSet(url) || isWeb(uri);
const isSet = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Fields whose value names a file that lies elsewhere, whatever they stand in. */
const FILE_NAMES = ['file_id', 'file_url', 'fileUri', 'file_uri', 'cachedContent', 'cached_content'];

/** Fields that name a recording or a document of the web, as an address, as several or as an object with one. */
const LINKED_FILES = /^(video|audio|document)_ur[li]s?$/;

/** Objects whose plain `url` or `uri` is that of a file. What a search found has an address as well, which is not read. */
const FILE_OBJECT = /^(url|(input_)?(image|video|audio|file|document|media)(_url)?)$/;

/** Takes note of what an object refers to. `holder` is the type of the block around it. */
function findReferences(fields: Fields, holder: unknown, found: Found): void {
  const { type } = fields;
  const isImage =
    [type, holder].some((name) => name === 'image' || name === 'input_image') ||
    isImageType(fields['mimeType'] ?? fields['mime_type']);
  if (FILE_NAMES.some((name) => isSet(fields[name])) || (FILE_OBJECT.test(String(type)) && isAddressed(fields))) {
    if (isImage) found.images += 1;
    else found.refers = true;
  }
}

function findInline(value: string, mediaType: string | undefined, found: Found): void {
  if (isImageType(mediaType)) found.images += 1;
  else if (mediaType === undefined || mediaType.startsWith('text/'))
    found.textTokens += Buffer.byteLength(value) / BYTES_PER_TOKEN;
  else found.fileBytes += Math.ceil(value.length / BASE64_PER_BYTE);
}

/** The media type of a field that holds an image or a file, in any of the styles; undefined for text. */
function mediaTypeOf(field: string, value: string, fields: Fields): string | undefined {
  const { media_type: snake, mimeType: camel, mime_type: snakeCamel, format } = fields;
  if (field === 'data') {
    const named = [snake, camel, snakeCamel].find((type) => typeof type === 'string');
    return named ?? (typeof format === 'string' ? `audio/${format}` : undefined);
  }
  if (!['image_url', 'url', 'file_data'].includes(field) && !LINKED_FILES.test(field)) return undefined;
  return DATA_URI.exec(value.slice(0, 128))?.[1] ?? (field === 'file_data' ? 'application/octet-stream' : undefined);
}

const isWeb = (value: unknown): boolean => typeof value === 'string' && isAddress(value.slice(0, LONGEST_SCHEME));

/** The forms in which an address stands in a field: itself, in an object, one of several. */
const isLinked = (value: unknown): boolean =>
  isWeb(value) || (isJsonObject(value) && isWeb(value['url'])) || (Array.isArray(value) && value.some(isWeb));

/** True for a field that names what is read from elsewhere, of which it takes note. */
function isLink(field: string, value: unknown, holderType: unknown, found: Found): boolean {
  const isImage = field === 'image_url' && isLinked(value);
  const isFile = !isImage && (LINKED_FILES.test(field) || carriesFile(field, holderType)) && isLinked(value);
  found.refers ||= isFile;
  if (isImage) found.images += 1;
  return isFile || isImage;
}

function findInFields(fields: Fields, mayHoldMedia: boolean, holder: unknown, found: Found): void {
  const isCall = fields['type'] === 'tool_use';
  if (mayHoldMedia && !isCall) findReferences(fields, holder, found);
  for (const [field, value] of Object.entries(fields)) {
    const mayHold = mayHoldMedia && !isCall && !CALLERS_OWN.has(field);
    found.textTokens += 2;
    if (mayHold && isLink(field, value, fields['type'], found)) continue;
    if (typeof value === 'string') findInline(value, mayHold ? mediaTypeOf(field, value, fields) : undefined, found);
    else find(value, mayHold, field === 'source' ? fields['type'] : undefined, found);
  }
}

function find(value: unknown, mayHoldMedia: boolean, holder: unknown, found: Found): void {
  if (typeof value === 'string') findInline(value, undefined, found);
  else if (Array.isArray(value)) for (const entry of value) find(entry, mayHoldMedia, undefined, found);
  else if (isJsonObject(value)) findInFields(value, mayHoldMedia, holder, found);
  else found.textTokens += 1;
}

const isPlain = (bytes: Uint8Array): boolean =>
  bytes.length <= SMALL_BODY_BYTES && !SIGNS_OF_MEDIA.standIn(asBuffer(bytes));

/**
 * About how many input tokens a body has. An image counts as the most one may cost, a file inside the body a token for
 * each of its bytes, and whatever is read from elsewhere as all that the model can read.
 *
 * @param bytes the body as it was sent; undefined when it holds more than that, because references in it were resolved.
 */
export function estimateInput(body: unknown, bytes: Uint8Array | undefined, limits: ModelLimits): InputEstimate {
  if (bytes && isPlain(bytes)) {
    const tokens = Math.ceil(bytes.length / BYTES_PER_TOKEN);
    return { shownTokens: tokens, heldTokens: tokens, mostTokens: tokens * BYTES_PER_TOKEN, hasFiles: false };
  }
  const found: Found = { textTokens: 0, images: 0, fileBytes: 0, refers: false };
  find(body, true, undefined, found);
  const images = found.images * limits.imageTokens;
  const media = found.refers ? limits.contextTokens : Math.min(limits.contextTokens, images + found.fileBytes);
  return {
    shownTokens: Math.ceil(found.textTokens + Math.min(limits.contextTokens, images)),
    heldTokens: Math.ceil(found.textTokens + media),
    mostTokens: Math.ceil(found.textTokens * BYTES_PER_TOKEN + media),
    hasFiles: found.refers || found.fileBytes > 0 || found.images > 0,
  };
}
