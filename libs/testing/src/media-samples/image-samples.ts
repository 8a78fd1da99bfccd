export interface SampleSize {
  readonly width: number;
  readonly height: number;
}

const numbers = (bytes: number, ...values: number[]): Buffer => {
  const buffer = Buffer.alloc(bytes * values.length);
  for (const [index, value] of values.entries()) buffer.writeUIntBE(value, index * bytes, bytes);
  return buffer;
};

/** The beginning of a PNG: signature and IHDR, which is all that a header reader needs. */
export function pngSample({ width, height }: SampleSize): Buffer {
  return Buffer.concat([
    Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'),
    numbers(4, 13),
    Buffer.from('IHDR'),
    numbers(4, width, height),
    Buffer.from([8, 2, 0, 0, 0]),
    numbers(4, 0),
  ]);
}

export function gifSample({ width, height }: SampleSize): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt16LE(width, 0);
  size.writeUInt16LE(height, 2);
  return Buffer.concat([Buffer.from('GIF89a'), size, Buffer.alloc(3)]);
}

/** The beginning of an extended WebP. */
export function webpSample({ width, height }: SampleSize): Buffer {
  const header = Buffer.alloc(30);
  header.write('RIFF', 0);
  header.writeUInt32LE(22, 4);
  header.write('WEBPVP8X', 8);
  header.writeUInt32LE(10, 16);
  header.writeUIntLE(width - 1, 24, 3);
  header.writeUIntLE(height - 1, 27, 3);
  return header;
}

export const jpegSegment = (marker: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0xff, marker]), numbers(2, content.length + 2), content]);

/** The beginning of a JPEG: an EXIF orientation when given, further segments, and the frame header. */
export function jpegSample({
  width,
  height,
  orientation,
  segments = [],
}: SampleSize & { orientation?: number; segments?: Buffer[] }): Buffer {
  const exif = orientation === undefined ? [] : [jpegSegment(0xe1, exifContent(orientation))];
  const frame = Buffer.concat([Buffer.from([8]), numbers(2, height, width), Buffer.from([3])]);
  return Buffer.concat([Buffer.from([0xff, 0xd8]), ...exif, ...segments, jpegSegment(0xc0, frame)]);
}

/** EXIF with one directory entry, the orientation, in big-endian order. */
function exifContent(orientation: number): Buffer {
  return Buffer.concat([
    Buffer.from('Exif\0\0MM\0*', 'latin1'),
    numbers(4, 8),
    numbers(2, 1, 0x0112, 3),
    numbers(4, 1),
    numbers(2, orientation, 0),
  ]);
}
