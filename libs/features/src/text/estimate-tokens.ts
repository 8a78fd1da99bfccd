import { isJsonObject } from '#contracts';

/** Bodies of fewer bytes are taken as text as they are; larger ones may hold pictures, which are looked for. */
const SMALL_BODY_BYTES = 32 * 1024;

/** Bytes of text a token has at least on average; low, so that a hold is rarely too small. */
const BYTES_PER_TOKEN = 3;

/** What a picture costs at most, and any other file for each part of it. */
const TOKENS_PER_PICTURE = 1_500;
const FILE_PART_BYTES = 64 * 1024;

/** Fields that hold the caller's own JSON: whatever it looks like there, a model reads it as text. */
const CALLERS_OWN = new Set(['tools', 'args', 'response', 'metadata']);

/** The media type at the beginning of a data URI. */
const DATA_URI = /^data:([^;,]{1,100})[;,]/;

type Fields = Readonly<Record<string, unknown>>;

/** The media type of a field that holds a picture or a file, in any of the styles; undefined for text. */
function mediaTypeOf(field: string, value: string, { media_type: snake, mimeType: camel }: Fields): string | undefined {
  if (field === 'data') return [snake, camel].find((type) => typeof type === 'string');
  if (!['image_url', 'url', 'file_data'].includes(field)) return undefined;
  return DATA_URI.exec(value.slice(0, 128))?.[1] ?? (field === 'file_data' ? 'application/octet-stream' : undefined);
}

function tokensInString(value: string, mediaType: string | undefined): number {
  if (mediaType?.startsWith('image/')) return TOKENS_PER_PICTURE;
  if (mediaType === undefined || mediaType.startsWith('text/')) return Buffer.byteLength(value) / BYTES_PER_TOKEN;
  return Math.ceil(value.length / FILE_PART_BYTES) * TOKENS_PER_PICTURE;
}

function tokensInFields(fields: Fields, mayHoldMedia: boolean): number {
  const isCall = fields['type'] === 'tool_use';
  let tokens = 0;
  for (const [field, value] of Object.entries(fields)) {
    const mayHold = mayHoldMedia && !isCall && !CALLERS_OWN.has(field);
    const mediaType = mayHold && typeof value === 'string' ? mediaTypeOf(field, value, fields) : undefined;
    tokens += 2 + tokensIn(value, mayHold, mediaType);
  }
  return tokens;
}

function tokensIn(value: unknown, mayHoldMedia: boolean, mediaType?: string): number {
  if (typeof value === 'string') return tokensInString(value, mediaType);
  if (Array.isArray(value)) return value.reduce<number>((sum, entry) => sum + tokensIn(entry, mayHoldMedia), 0);
  return isJsonObject(value) ? tokensInFields(value, mayHoldMedia) : 1;
}

/**
 * About how many input tokens a body has: for the hold, and for streams that must name a number before it is known.
 *
 * @param bytes the length of the body as it was sent; undefined when it holds more than that, because references in it
 * were resolved.
 */
export function estimateInputTokens(body: unknown, bytes: number | undefined): number {
  const isSmall = bytes !== undefined && bytes <= SMALL_BODY_BYTES;
  return Math.ceil(isSmall ? bytes / BYTES_PER_TOKEN : tokensIn(body, true));
}
