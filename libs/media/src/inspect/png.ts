import type { ByteSource } from './byte-source.js';
import type { ImageHeader } from './media-header.js';
import { malformed } from './media-unreadable.js';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const LARGEST_SIDE = 0x7fff_ffff;

export const isPng = (beginning: Buffer): boolean => beginning.subarray(0, 8).equals(SIGNATURE);

/** Reads the first chunk of a PNG, which must be IHDR with 13 bytes. */
export async function readPng(source: ByteSource): Promise<ImageHeader> {
  const header = await source.read(0, 33);
  if (header.length < 33 || header.readUInt32BE(8) !== 13 || header.toString('latin1', 12, 16) !== 'IHDR')
    throw malformed('its PNG header is not where it must be');
  const [width, height] = [header.readUInt32BE(16), header.readUInt32BE(20)];
  if (width > LARGEST_SIDE || height > LARGEST_SIDE) throw malformed('its PNG header names an impossible size');
  return { medium: 'image', format: 'png', width, height };
}
