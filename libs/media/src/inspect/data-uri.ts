import type { MediaFormat } from '#contracts';
import { nextTurn, Turns } from '#platform';
import { MediaUnreadable } from './media-unreadable.js';

const CONTENT_TYPES = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'video/mp4': 'mp4',
  'video/quicktime': 'mov',
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
} as const satisfies Record<string, MediaFormat>;

const HEAD = /^data:([a-z]+\/[a-z0-9.+-]+);base64$/i;
const LONGEST_HEAD = 100;

export interface DataUriRules {
  readonly formats: readonly MediaFormat[];
  /** Most bytes after decoding. */
  readonly maxBytes: number;
}

/** A decoded data URI. The format is the declared one; whether the bytes agree is for the caller to see. */
export interface DecodedDataUri {
  readonly format: MediaFormat;
  readonly bytes: Buffer;
}

/** True for texts that claim to be a data URI, in any letter case. */
export const isDataUri = (text: string): boolean => /^data:/i.test(text.slice(0, 5));

/**
 * Decodes `data:<type>;base64,<data>`. The size is checked before anything is decoded; base64 must be the standard
 * alphabet with padding and nothing else.
 *
 * @throws MediaUnreadable `bad_data_uri`, `unsupported` or `too_large`.
 */
export async function decodeDataUri(text: string, rules: DataUriRules): Promise<DecodedDataUri> {
  const comma = text.slice(0, LONGEST_HEAD).indexOf(',');
  const contentType = HEAD.exec(text.slice(0, Math.max(0, comma)))?.[1]?.toLowerCase();
  if (contentType === undefined)
    throw new MediaUnreadable('bad_data_uri', 'is not a data URI of the form data:<type>;base64,<data>');
  const format = formatOf(contentType);
  if (!format || !rules.formats.includes(format))
    throw new MediaUnreadable('unsupported', `is declared as ${contentType}`);
  const length = decodedLength(text, comma + 1);
  if (length > rules.maxBytes) throw new MediaUnreadable('too_large', `has ${length} bytes`);
  const bytes = await decodedBase64(text, comma + 1);
  // What is no base64 is skipped, so any stray character makes the result shorter; the URL alphabet is read as well.
  if (bytes.length !== length || length === 0 || usesUrlAlphabet(text, comma + 1))
    throw new MediaUnreadable('bad_data_uri', 'is not valid base64 after the comma');
  return { format, bytes };
}

const formatOf = (contentType: string): MediaFormat | undefined =>
  Object.hasOwn(CONTENT_TYPES, contentType) ? CONTENT_TYPES[contentType as keyof typeof CONTENT_TYPES] : undefined;

/** Length after decoding; a fraction when the text does not consist of whole groups of four. */
function decodedLength(text: string, start: number): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return ((text.length - start) * 3) / 4 - padding;
}

const usesUrlAlphabet = (text: string, start: number): boolean =>
  text.includes('-', start) || text.includes('_', start);

/** How much is decoded at once, in characters: whole groups of four. */
const PIECE_CHARACTERS = 256 * 1024;

const NO_DIGIT = /[^A-Za-z0-9+/_-]/g;

/**
 * Decodes base64 a piece at a time, while other work runs in between: 20 MB at once block all other work for some 25 ms.
 * Both alphabets are read, and whatever belongs to neither is skipped.
 *
 * @param from where it begins in the text.
 */
export async function decodedBase64(text: string, from = 0): Promise<Buffer> {
  const whole = Buffer.allocUnsafeSlow(Math.ceil(((text.length - from) * 3) / 4));
  const turns = new Turns();
  if (text.length - from > PIECE_CHARACTERS) await nextTurn(turns);
  let length = 0;
  let digits = '';
  for (let at = from; at < text.length; at += PIECE_CHARACTERS) {
    digits += text.slice(at, at + PIECE_CHARACTERS).replaceAll(NO_DIGIT, '');
    const groups = digits.length - (digits.length % 4);
    length += whole.write(digits.slice(0, groups), length, 'base64');
    digits = digits.slice(groups);
    if (turns.isOver) await nextTurn(turns);
  }
  length += whole.write(digits, length, 'base64');
  return whole.subarray(0, length);
}
