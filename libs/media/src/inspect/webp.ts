import type { ByteSource } from './byte-source.js';
import type { ImageHeader } from './media-header.js';
import { malformed } from './media-unreadable.js';

export const isWebp = (beginning: Buffer): boolean =>
  beginning.toString('latin1', 0, 4) === 'RIFF' && beginning.toString('latin1', 8, 12) === 'WEBP';

/** Reads the size from the first chunk of a WebP: lossy, lossless or extended. */
export async function readWebp(source: ByteSource): Promise<ImageHeader> {
  const header = await source.read(0, 30);
  const [width, height] = readSize(header, header.toString('latin1', 12, 16));
  return { medium: 'image', format: 'webp', width, height };
}

function readSize(header: Buffer, chunk: string): readonly [width: number, height: number] {
  if (chunk === 'VP8X') return [1 + header.readUIntLE(24, 3), 1 + header.readUIntLE(27, 3)];
  if (chunk === 'VP8L' && header[20] === LOSSLESS_SIGNATURE) {
    // Two fields of 14 bits, each one less than the side.
    const bits = header.readUInt32LE(21);
    return [1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff)];
  }
  if (chunk === 'VP8 ' && header.readUIntBE(23, 3) === LOSSY_START_CODE)
    return [header.readUInt16LE(26) & 0x3fff, header.readUInt16LE(28) & 0x3fff];
  throw malformed('its WebP header is not where it must be');
}

const LOSSLESS_SIGNATURE = 0x2f;
const LOSSY_START_CODE = 0x9d_01_2a;
