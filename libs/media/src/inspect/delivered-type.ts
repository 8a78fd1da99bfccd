import { isGif } from './gif.js';
import { isIsoMedia } from './iso-media.js';
import { isJpeg } from './jpeg.js';
import { isPng } from './png.js';
import { isWebp } from './webp.js';

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
