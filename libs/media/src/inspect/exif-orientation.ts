const ORIENTATION_TAG = 0x0112;
const EXIF_HEADER = 'Exif\0\0';
const LITTLE_ENDIAN = 0x4949;
const DIRECTORY_ENTRY_BYTES = 12;

/** How many entries of the first directory are looked at; cameras write a dozen. */
const MAX_ENTRIES = 64;

/** True for the EXIF orientations that show an image turned by a quarter: 5 to 8. */
export const turnsSideways = (orientation: number): boolean => orientation >= 5;

/** The orientation, 1 to 8, from the body of a JPEG's APP1 segment; nothing when it holds none. */
export function exifOrientation(segment: Buffer): number | undefined {
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
