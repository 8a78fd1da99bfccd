import { GLYPH_HEIGHT, GLYPH_WIDTH, strokesOf } from '../font.js';
import type { DecodedPng } from './read-png.js';

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
