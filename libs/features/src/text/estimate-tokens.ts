import { isJsonObject } from '#contracts';

/** Fewer bytes than this are taken as text as they are; larger bodies may hold pictures, which are looked for. */
const SMALL_BODY_BYTES = 32 * 1024;

/** Bytes of text a token has at least on average; low, so that a hold is rarely too small. */
const BYTES_PER_TOKEN = 3;

/** A string longer than this without a space is a picture or file as base64, not text. */
const LONG_STRING = 8 * 1024;
const TOKENS_PER_PICTURE = 1_500;

function tokensIn(value: unknown): number {
  if (typeof value === 'string')
    return value.length > LONG_STRING && !value.slice(0, LONG_STRING).includes(' ')
      ? TOKENS_PER_PICTURE
      : value.length / BYTES_PER_TOKEN;
  if (Array.isArray(value)) return value.reduce<number>((sum, entry) => sum + tokensIn(entry), 0);
  if (isJsonObject(value)) return Object.values(value).reduce<number>((sum, entry) => sum + 2 + tokensIn(entry), 0);
  return 1;
}

/** About how many input tokens a body has: for the hold, and for streams that must name a number before it is known. */
export function estimateInputTokens(body: unknown, bytes: number): number {
  return Math.ceil(bytes <= SMALL_BODY_BYTES ? bytes / BYTES_PER_TOKEN : tokensIn(body));
}
