import { cellsOf, GLYPH_HEIGHT, GLYPH_WIDTH, strokesOf } from './font.js';

/** Pixels, from the top left corner. */
export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Red, green and blue, 0 to 255 each. */
type Colour = readonly [red: number, green: number, blue: number];

/** An image of at most 256 colours: one byte a pixel, which is the place of its colour in the palette. */
export class Canvas {
  readonly pixels: Uint8Array;
  private readonly colours: Colour[] = [];

  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    this.pixels = new Uint8Array(width * height);
  }

  /** The colours in use, three bytes each. */
  get palette(): Uint8Array {
    return Uint8Array.from(this.colours.flat());
  }

  /**
   * The place of a colour in the palette, which it joins if it is new.
   *
   * @throws RangeError at the 257th colour.
   */
  ink(colour: Colour): number {
    const known = this.colours.findIndex((other) => other.every((part, index) => part === colour[index]));
    if (known !== -1) return known;
    if (this.colours.length === 256) throw new RangeError('a canvas holds at most 256 colours');
    return this.colours.push(colour) - 1;
  }

  /** Paints a rectangle; what lies outside the canvas is left out. */
  paint(rectangle: Rectangle, ink: number): void {
    const left = Math.max(0, rectangle.x);
    const right = Math.min(this.width, rectangle.x + rectangle.width);
    const bottom = Math.min(this.height, rectangle.y + rectangle.height);
    if (right <= left) return;
    for (let y = Math.max(0, rectangle.y); y < bottom; y++) {
      this.pixels.fill(ink, y * this.width + left, y * this.width + right);
    }
  }

  /** Writes one line of text, its top left corner at x and y, each font pixel as a square of `scale` pixels. */
  write(text: string, x: number, y: number, scale: number, ink: number): void {
    let cursor = x;
    for (const character of text) {
      for (const stroke of strokesOf(character)) {
        const area = { x: cursor + stroke.x * scale, y: y + stroke.y * scale };
        this.paint({ ...area, width: stroke.width * scale, height: stroke.height * scale }, ink);
      }
      cursor += cellsOf(character) * GLYPH_WIDTH * scale;
    }
  }

  /** Puts back a rectangle as it is on another canvas of the same size and colours. */
  restore(original: Canvas, { x, y, width, height }: Rectangle): void {
    const right = Math.min(this.width, x + width);
    const bottom = Math.min(this.height, y + height);
    for (let row = y; row < bottom; row++) {
      const start = row * this.width;
      this.pixels.set(original.pixels.subarray(start + x, start + right), start + x);
    }
  }

  /** A copy that can be painted without touching this one. */
  clone(): Canvas {
    const copy = new Canvas(this.width, this.height);
    copy.pixels.set(this.pixels);
    copy.colours.push(...this.colours);
    return copy;
  }
}

/** The height of a line of text in pixels. */
export const lineHeight = (scale: number): number => GLYPH_HEIGHT * scale;

/** The width of a line of text in pixels. */
export const textWidth = (text: string, scale: number): number => cellCount(text) * GLYPH_WIDTH * scale;

/**
 * Breaks text into at most `maxLines` lines of at most `maxCells` cells. Control characters become spaces; where lines are
 * missing the last one ends in a tilde.
 */
export function wrapText(text: string, maxCells: number, maxLines: number): string[] {
  if (maxLines === 0) return [];
  const lines: string[] = [];
  let line = '';
  let cells = 0;
  for (const character of text.replaceAll(/\p{Cc}+/gu, ' ')) {
    const width = cellsOf(character);
    if (cells + width > maxCells && line !== '') {
      if (lines.length + 1 === maxLines) return [...lines, shorten(line)];
      lines.push(line);
      line = '';
      cells = 0;
    }
    line += character;
    cells += width;
  }
  return line === '' ? lines : [...lines, line];
}

function shorten(line: string): string {
  return `${Array.from(line).slice(0, -1).join('')}~`;
}

function cellCount(text: string): number {
  return Array.from(text).reduce((sum, character) => sum + cellsOf(character), 0);
}

export const BLACK: Colour = [16, 16, 16];
export const WHITE: Colour = [255, 255, 255];
export const LIGHT_GREY: Colour = [230, 230, 230];
export const YELLOW: Colour = [255, 210, 0];

/** A colour by hue (0 to 255 around the circle), saturation and brightness (0 to 1). */
export function fromHue(hue: number, saturation: number, brightness: number): Colour {
  const sector = (hue * 6) / 256;
  const part = (offset: number): number => {
    const position = (offset + sector) % 6;
    const weight = Math.max(0, Math.min(position, 4 - position, 1));
    return Math.round(255 * brightness * (1 - saturation * weight));
  };
  return [part(5), part(3), part(1)];
}

/** The colour `share` (0 to 1) of the way from one colour to another. */
export function blend(from: Colour, to: Colour, share: number): Colour {
  const part = (index: 0 | 1 | 2): number => Math.round(from[index] + (to[index] - from[index]) * share);
  return [part(0), part(1), part(2)];
}
