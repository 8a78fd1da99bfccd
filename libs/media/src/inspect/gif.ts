import type { ByteSource } from './byte-source.js';
import type { ImageHeader } from './media-header.js';

export const isGif = (beginning: Buffer): boolean => /^GIF8[79]a$/.test(beginning.toString('latin1', 0, 6));

/** Reads the logical screen size of a GIF. */
export async function readGif(source: ByteSource): Promise<ImageHeader> {
  const header = await source.read(0, 10);
  return { medium: 'image', format: 'gif', width: header.readUInt16LE(6), height: header.readUInt16LE(8) };
}
