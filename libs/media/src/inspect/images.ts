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
  if (width > LARGEST_SIDE || height > LARGEST_SIDE) throw malformed('its PNG header gives an impossible size');
  return { medium: 'image', format: 'png', width, height };
}

export const isGif = (beginning: Buffer): boolean => /^GIF8[79]a$/.test(beginning.toString('latin1', 0, 6));

/** Reads the logical screen size of a GIF. */
export async function readGif(source: ByteSource): Promise<ImageHeader> {
  const header = await source.read(0, 10);
  return { medium: 'image', format: 'gif', width: header.readUInt16LE(6), height: header.readUInt16LE(8) };
}

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

const ORIENTATION_TAG = 0x0112;
const EXIF_HEADER = 'Exif\0\0';
const LITTLE_ENDIAN = 0x4949;
const DIRECTORY_ENTRY_BYTES = 12;

/** How many entries of the first directory are looked at; cameras write a dozen. */
const MAX_ENTRIES = 64;

/** True for the EXIF orientations that show an image turned by a quarter: 5 to 8. */
const turnsSideways = (orientation: number): boolean => orientation >= 5;

/** The orientation, 1 to 8, from the body of a JPEG's APP1 segment; nothing when it holds none. */
function exifOrientation(segment: Buffer): number | undefined {
  if (segment.toString('latin1', 0, EXIF_HEADER.length) !== EXIF_HEADER) return undefined;
  const fields = new ExifFields(segment.subarray(EXIF_HEADER.length));
  const directory = fields.long(4);
  const entries = Math.min(fields.short(directory), MAX_ENTRIES);
  for (let index = 0; index < entries; index += 1) {
    const entry = directory + 2 + index * DIRECTORY_ENTRY_BYTES;
    if (fields.short(entry) !== ORIENTATION_TAG) continue;
    const orientation = fields.short(entry + 8);
    return orientation >= 1 && orientation <= 8 ? orientation : undefined;
  }
  return undefined;
}

/** Numbers of a TIFF block in its own byte order; past its end everything is 0. */
class ExifFields {
  private readonly littleEndian: boolean;

  constructor(private readonly bytes: Buffer) {
    this.littleEndian = bytes.length >= 2 && bytes.readUInt16LE(0) === LITTLE_ENDIAN;
  }

  short(offset: number): number {
    if (offset + 2 > this.bytes.length) return 0;
    return this.littleEndian ? this.bytes.readUInt16LE(offset) : this.bytes.readUInt16BE(offset);
  }

  long(offset: number): number {
    if (offset + 4 > this.bytes.length) return 0;
    return this.littleEndian ? this.bytes.readUInt32LE(offset) : this.bytes.readUInt32BE(offset);
  }
}

/** Real images have a few dozen segments before the frame header, even with a colour profile in many parts. */
const MAX_SEGMENTS = 1_024;

/** How much of an EXIF segment is looked at; the orientation is in its first directory. */
const EXIF_BYTES = 4_096;

const APP1 = 0xe1;

export const isJpeg = (beginning: Buffer): boolean =>
  beginning[0] === 0xff && beginning[1] === 0xd8 && beginning[2] === 0xff;

/** Walks the segments of a JPEG to its frame header, taking the EXIF orientation on the way. */
export async function readJpeg(source: ByteSource): Promise<ImageHeader> {
  let position = 2;
  let orientation = 1;
  for (let count = 0; count < MAX_SEGMENTS; count += 1) {
    const { marker, start } = await nextMarker(source, position);
    if (standsAlone(marker)) {
      position = start;
      continue;
    }
    if (endsHeader(marker)) throw malformed('its JPEG data begins before a frame header');
    const segment = await source.read(start, start + 7);
    const length = segment.readUInt16BE(0);
    if (length < 2) throw malformed('a JPEG segment has an impossible length');
    if (isFrameHeader(marker)) return shown(segment.readUInt16BE(5), segment.readUInt16BE(3), orientation);
    if (marker === APP1)
      orientation = exifOrientation(await source.read(start + 2, start + Math.min(length, EXIF_BYTES))) ?? orientation;
    position = start + length;
  }
  throw malformed('it has too many JPEG segments');
}

/** A marker is a byte after any number of 0xFF; `start` is where its segment begins. */
async function nextMarker(source: ByteSource, position: number): Promise<{ marker: number; start: number }> {
  const bytes = await source.read(position, position + 16);
  const fill = bytes.findIndex((byte) => byte !== 0xff);
  const marker = bytes[fill];
  if (fill < 1 || marker === undefined) throw malformed('a JPEG segment is not where it must be');
  return { marker, start: position + fill + 1 };
}

/** TEM and the restart markers have no length. */
const standsAlone = (marker: number): boolean => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7);

/** Start of image, end of image, start of scan. */
const endsHeader = (marker: number): boolean => marker >= 0xd8 && marker <= 0xda;

/** SOF0 to SOF15 without the Huffman, JPEG extension and arithmetic tables that share the range. */
const isFrameHeader = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

function shown(width: number, height: number, orientation: number): ImageHeader {
  const size = turnsSideways(orientation) ? { width: height, height: width } : { width, height };
  return { medium: 'image', format: 'jpeg', ...size };
}
