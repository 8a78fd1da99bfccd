import { crc32, deflateSync } from 'node:zlib';
import type { Canvas } from './canvas.js';

const SIGNATURE = Uint8Array.of(137, 80, 78, 71, 13, 10, 26, 10);
const BITS_PER_PIXEL = 8;
const INDEXED_COLOUR = 3;
const FILTER_NONE = 0;
/** Each byte is stored as its difference to the one above, so that a repeated row is all zeros. */
const FILTER_UP = 2;

/**
 * Encodes a canvas as an indexed-colour PNG of exactly its size (PNG specification, third edition).
 *
 * @param metadata keyword to text; keywords are Latin-1 of 1 to 79 characters, texts may be any Unicode (`iTXt`).
 */
export function encodePng(canvas: Canvas, metadata: Readonly<Record<string, string>>): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(canvas.width, 0);
  header.writeUInt32BE(canvas.height, 4);
  header.set([BITS_PER_PIXEL, INDEXED_COLOUR], 8);
  const texts = Object.entries(metadata).map(([keyword, text]) =>
    chunk('iTXt', Buffer.from(`${keyword}\0\0\0\0\0${text}`, 'utf8')),
  );
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    ...texts,
    chunk('PLTE', canvas.palette),
    chunk('IDAT', deflateSync(filterRows(canvas), { level: 1 })),
    chunk('IEND', new Uint8Array()),
  ]);
}

/** Puts a filter byte before each row: rows that repeat the one above become zeros, others stay as they are. */
function filterRows({ pixels, width, height }: Canvas): Uint8Array {
  const filtered = new Uint8Array((width + 1) * height);
  const rows = Buffer.from(pixels.buffer, pixels.byteOffset, pixels.length);
  for (let y = 0; y < height; y++) {
    const start = y * width;
    const target = y * (width + 1);
    const repeats = y > 0 && rows.compare(rows, start - width, start, start, start + width) === 0;
    filtered[target] = repeats ? FILTER_UP : FILTER_NONE;
    if (!repeats) filtered.set(pixels.subarray(start, start + width), target + 1);
  }
  return filtered;
}

/** Length, type, data, and a checksum over type and data. */
function chunk(type: string, data: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(12 + data.length);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  bytes.set(data, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length);
  return bytes;
}
