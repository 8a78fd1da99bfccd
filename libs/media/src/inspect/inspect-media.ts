import type { ByteSource } from './byte-source.js';
import { isGif, isJpeg, isPng, isWebp, readGif, readJpeg, readPng, readWebp } from './images.js';
import { isIsoMedia, readIsoMedia } from './iso-media.js';
import type { MediaHeader } from './media-header.js';
import { malformed, MediaUnreadable } from './media-unreadable.js';
import { isWav, readMp3, readWav } from './sounds.js';

/** Types that users often give by mistake, recognised by their first bytes; the words continue "the file is …". */
const SIGNATURES: readonly (readonly [bytes: string, name: string])[] = [
  ['%PDF-', 'a PDF document'],
  ['\u001aE\u00df\u00a3', 'a WebM or Matroska video'],
  ['OggS', 'an Ogg file'],
  ['fLaC', 'a FLAC file'],
  ['II*\0', 'a TIFF image'],
  ['MM\0*', 'a TIFF image'],
  ['PK\u0003\u0004', 'a ZIP archive'],
  ['\u001f\u008b', 'gzip data'],
];

const PATTERNS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^RIFF.{4}AVI /s, 'an AVI video'],
  [/^\s*<(?:!doctype html|html|head|body)/i, 'a web page'],
  [/^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^>]*>\s*)?<svg/i, 'an SVG drawing'],
  [/^\s*[[{]/, 'text or JSON'],
];

/** What a file of no supported type is, as far as its first bytes show: `a web page`. */
function foreignType(beginning: Buffer): string | undefined {
  const text = beginning.toString('latin1');
  const signature = SIGNATURES.find(([bytes]) => text.startsWith(bytes));
  return (signature ?? PATTERNS.find(([pattern]) => pattern.test(text)))?.[1];
}

const READERS: readonly (readonly [
  fits: (beginning: Buffer) => boolean,
  read: (source: ByteSource) => Promise<MediaHeader>,
])[] = [
  [isPng, readPng],
  [isJpeg, readJpeg],
  [isWebp, readWebp],
  [isGif, readGif],
  [isWav, readWav],
  [isIsoMedia, readIsoMedia],
];

/** Enough for every signature and for the first words of a web page. */
const BEGINNING_BYTES = 256;

/**
 * Tells type, size and length of an image, video or sound by its own bytes; names and content types do not count.
 * Reads headers only and decodes nothing. Loops run over bytes that were read, never over counts that the file claims,
 * so a hostile file costs milliseconds.
 *
 * @throws MediaUnreadable with a reason that may be shown to the owner of the file.
 */
export async function inspectMedia(source: ByteSource): Promise<MediaHeader> {
  if (source.size === 0) throw new MediaUnreadable('unsupported', 'is empty');
  const beginning = await source.read(0, BEGINNING_BYTES);
  const foreign = foreignType(beginning);
  if (foreign !== undefined) throw new MediaUnreadable('unsupported', `is ${foreign}`);
  const read = READERS.find(([fits]) => fits(beginning))?.[1] ?? readMp3;
  try {
    return sane(await read(source));
  } catch (error) {
    throw isReadPastEnd(error) ? malformed('a field lies beyond its end') : error;
  }
}

function sane(header: MediaHeader): MediaHeader {
  if (header.medium !== 'audio' && (header.width === 0 || header.height === 0))
    throw malformed('its header gives no width and height');
  if (header.medium !== 'image' && !(header.durationSeconds > 0 && Number.isFinite(header.durationSeconds)))
    throw malformed('its header gives no duration');
  return header;
}

const READ_PAST_END = new Set(['ERR_OUT_OF_RANGE', 'ERR_BUFFER_OUT_OF_BOUNDS']);

/** A file that ends inside a field makes the buffer refuse the read. */
const isReadPastEnd = (error: unknown): boolean =>
  READ_PAST_END.has(String((Object(error) as NodeJS.ErrnoException).code));

/** How many first bytes of a file show its type. */
export const TYPE_BYTES = 16;

const TYPES: readonly (readonly [fits: (beginning: Buffer) => boolean, type: string])[] = [
  [isPng, 'image/png'],
  [isJpeg, 'image/jpeg'],
  [isWebp, 'image/webp'],
  [isGif, 'image/gif'],
  [isQuickTime, 'video/quicktime'],
  [isIsoMedia, 'video/mp4'],
];

/**
 * The content type of an image or video by its first `TYPE_BYTES` bytes, whatever its sender calls it. Undefined: it is
 * neither.
 */
export const deliveredType = (beginning: Buffer): string | undefined => TYPES.find(([fits]) => fits(beginning))?.[1];

function isQuickTime(beginning: Buffer): boolean {
  return beginning.toString('latin1', 4, 12) === 'ftypqt  ';
}
