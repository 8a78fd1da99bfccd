import { crc32, inflateSync } from 'node:zlib';
import { GLYPH_HEIGHT, GLYPH_WIDTH, strokesOf } from '../font.js';

/** An indexed-colour PNG, decoded. */
interface DecodedPng {
  readonly width: number;
  readonly height: number;
  /** Keyword to text of the `iTXt` chunks. */
  readonly texts: ReadonlyMap<string, string>;
  /** Red, green and blue of a pixel. */
  colourAt(x: number, y: number): readonly number[];
  /** The place of each pixel's colour in the palette. */
  readonly indexes: Uint8Array;
}

/**
 * Decodes the PNG files that the sandbox writes, by the specification and not by the writer's code, so that tests can tell
 * what a viewer would show.
 *
 * @throws Error on wrong checksums, chunk order, filters or lengths.
 */
export function readPng(file: Uint8Array): DecodedPng {
  const chunks = readChunks(Buffer.from(file));
  const [header, ...others] = chunks;
  if (header?.type !== 'IHDR' || others.at(-1)?.type !== 'IEND')
    throw new Error('a PNG begins with IHDR and ends with IEND');
  const width = header.data.readUInt32BE(0);
  const height = header.data.readUInt32BE(4);
  if (header.data.subarray(8).toString('hex') !== '0803000000') throw new Error('not 8-bit indexed colour');
  const palette = others.find(({ type }) => type === 'PLTE')?.data ?? Buffer.alloc(0);
  const compressed = Buffer.concat(others.filter(({ type }) => type === 'IDAT').map(({ data }) => data));
  const indexes = unfilter(inflateSync(compressed), width, height);
  if (indexes.some((index) => index * 3 >= palette.length)) throw new Error('a pixel points outside the palette');
  const texts = others.filter(({ type }) => type === 'iTXt').map(({ data }) => readText(data));
  const colourAt = (x: number, y: number): number[] => {
    const index = indexes[y * width + x] ?? 0;
    return [...palette.subarray(index * 3, index * 3 + 3)];
  };
  return { width, height, texts: new Map(texts), indexes, colourAt };
}

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

function readChunks(file: Buffer): Chunk[] {
  if (file.subarray(0, 8).toString('latin1') !== '\u0089PNG\r\n\u001a\n') throw new Error('not a PNG');
  const chunks: Chunk[] = [];
  for (let at = 8; at < file.length;) {
    const end = at + 8 + file.readUInt32BE(at);
    const checked = file.subarray(at + 4, end);
    if (crc32(checked) !== file.readUInt32BE(end)) throw new Error('a checksum is wrong');
    chunks.push({ type: checked.toString('latin1', 0, 4), data: checked.subarray(4) });
    at = end + 4;
  }
  return chunks;
}

function unfilter(filtered: Uint8Array, width: number, height: number): Uint8Array {
  if (filtered.length !== (width + 1) * height) throw new Error('the image data has another size than the header says');
  const pixels = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    const row = filtered.subarray(y * (width + 1), (y + 1) * (width + 1));
    const filter = row[0];
    if (filter !== 0 && filter !== 2) throw new Error(`filter ${filter} is not used by the sandbox`);
    pixels.set(row.subarray(1), y * width);
    if (filter === 2 && y > 0) {
      for (let at = y * width; at < (y + 1) * width; at++) pixels[at] = (pixels[at] ?? 0) + (pixels[at - width] ?? 0);
    }
  }
  return pixels;
}

/** Keyword, two compression bytes, language, translated keyword, text; all ended by a zero except the text. */
function readText(data: Buffer): [string, string] {
  const keywordEnd = data.indexOf(0);
  const languageEnd = data.indexOf(0, keywordEnd + 3);
  const translatedEnd = data.indexOf(0, languageEnd + 1);
  return [data.toString('latin1', 0, keywordEnd), data.toString('utf8', translatedEnd + 1)];
}

const PRINTABLE_ASCII = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index));

/** Each character under the cells it fills, so that cells found in an image can be looked up. */
const CHARACTERS = new Map(PRINTABLE_ASCII.map((character) => [cellsOf(character), character]));

function cellsOf(character: string): string {
  const cells = Array.from({ length: GLYPH_WIDTH * GLYPH_HEIGHT }, () => '.');
  for (const { x, y, width } of strokesOf(character)) cells.fill('#', y * GLYPH_WIDTH + x, y * GLYPH_WIDTH + x + width);
  return cells.join('');
}

/** Reads a line of ASCII text back from an image, up to the first cell that holds no character of the given colour. */
export function readLabel(
  image: DecodedPng,
  at: { readonly x: number; readonly y: number; readonly scale: number; readonly colour: readonly number[] },
): string {
  const wanted = at.colour.join();
  let text = '';
  for (let left = at.x; left + GLYPH_WIDTH * at.scale <= image.width; left += GLYPH_WIDTH * at.scale) {
    const cells = Array.from({ length: GLYPH_WIDTH * GLYPH_HEIGHT }, (_, index) => {
      const x = left + (index % GLYPH_WIDTH) * at.scale;
      const y = at.y + Math.floor(index / GLYPH_WIDTH) * at.scale;
      return image.colourAt(x, y).join() === wanted ? '#' : '.';
    }).join('');
    const character = CHARACTERS.get(cells);
    if (character === undefined) break;
    text += character;
  }
  return text.trimEnd();
}
