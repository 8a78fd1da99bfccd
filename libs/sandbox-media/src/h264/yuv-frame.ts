import type { Canvas, Rectangle } from '../canvas.js';
import { macroblocks } from './parameter-sets.js';

/** One colour component, padded to whole macroblocks, row by row. */
export interface Plane {
  readonly samples: Uint8Array;
  /** Samples in a row. */
  readonly stride: number;
  /** The side of a macroblock in this plane: 16 for luma, 8 for chroma, which is stored at half resolution. */
  readonly square: 16 | 8;
}

/**
 * A frame in the colours of video: brightness (luma, 16 to 235) and two colour differences (chroma, 16 to 240) at half
 * resolution, after BT.709. Right and bottom padding repeat the image's edge.
 */
export class YuvFrame {
  readonly luma: Plane;
  readonly blueDifference: Plane;
  readonly redDifference: Plane;
  readonly planes: readonly [Plane, Plane, Plane];
  readonly macroblocksWide: number;
  readonly macroblocksHigh: number;

  /** Sides in pixels, without padding. */
  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    this.macroblocksWide = macroblocks(width);
    this.macroblocksHigh = macroblocks(height);
    const plane = (square: 16 | 8): Plane => {
      const stride = this.macroblocksWide * square;
      return { samples: new Uint8Array(stride * this.macroblocksHigh * square), stride, square };
    };
    this.luma = plane(16);
    this.blueDifference = plane(8);
    this.redDifference = plane(8);
    this.planes = [this.luma, this.blueDifference, this.redDifference];
  }

  /** Takes over all pixels of a canvas of the same size. */
  copyAll(canvas: Canvas): void {
    this.copy(canvas, { x: 0, y: 0, width: this.luma.stride, height: this.macroblocksHigh * 16 });
  }

  /** Takes over the macroblocks that the rectangles touch, and marks each with 1 in the returned map (row by row). */
  copyChanges(canvas: Canvas, rectangles: readonly Rectangle[]): Uint8Array {
    const changed = new Uint8Array(this.macroblocksWide * this.macroblocksHigh);
    for (const { x, y, width, height } of rectangles) {
      const left = x >> 4;
      const top = y >> 4;
      const right = Math.min(this.macroblocksWide, macroblocks(x + width));
      const bottom = Math.min(this.macroblocksHigh, macroblocks(y + height));
      this.copy(canvas, { x: left * 16, y: top * 16, width: (right - left) * 16, height: (bottom - top) * 16 });
      for (let row = top; row < bottom; row++) {
        changed.fill(1, row * this.macroblocksWide + left, row * this.macroblocksWide + right);
      }
    }
    return changed;
  }

  private copy(canvas: Canvas, { x: left, y: top, width, height }: Rectangle): void {
    const { pixels } = canvas;
    const { luma, blue, red } = paletteInYuv(canvas.palette);
    const lastColumn = canvas.width - 1;
    const lastRow = canvas.height - 1;
    for (let y = top; y < top + height; y += 2) {
      const row = Math.min(y, lastRow) * canvas.width;
      const nextRow = Math.min(y + 1, lastRow) * canvas.width;
      const at = y * this.luma.stride;
      const chromaAt = (y / 2) * this.blueDifference.stride;
      for (let x = left; x < left + width; x += 2) {
        const column = Math.min(x, lastColumn);
        const nextColumn = Math.min(x + 1, lastColumn);
        const a = pixels[row + column] ?? 0;
        const b = pixels[row + nextColumn] ?? 0;
        const c = pixels[nextRow + column] ?? 0;
        const d = pixels[nextRow + nextColumn] ?? 0;
        this.luma.samples[at + x] = luma[a] ?? 0;
        this.luma.samples[at + x + 1] = luma[b] ?? 0;
        this.luma.samples[at + this.luma.stride + x] = luma[c] ?? 0;
        this.luma.samples[at + this.luma.stride + x + 1] = luma[d] ?? 0;
        const chroma = chromaAt + x / 2;
        this.blueDifference.samples[chroma] = mean(blue, a, b, c, d);
        this.redDifference.samples[chroma] = mean(red, a, b, c, d);
      }
    }
  }
}

function mean(table: Uint8Array, a: number, b: number, c: number, d: number): number {
  return ((table[a] ?? 0) + (table[b] ?? 0) + (table[c] ?? 0) + (table[d] ?? 0) + 2) >> 2;
}

/** BT.709 with limited range, in 16-bit fixed point. */
function paletteInYuv(palette: Uint8Array): { luma: Uint8Array; blue: Uint8Array; red: Uint8Array } {
  const colours = palette.length / 3;
  const luma = new Uint8Array(colours);
  const blue = new Uint8Array(colours);
  const red = new Uint8Array(colours);
  for (let index = 0; index < colours; index++) {
    const [r = 0, g = 0, b = 0] = palette.subarray(index * 3, index * 3 + 3);
    luma[index] = 16 + ((11_966 * r + 40_254 * g + 4_064 * b + 32_768) >> 16);
    blue[index] = 128 + ((-6_596 * r - 22_189 * g + 28_784 * b + 32_768) >> 16);
    red[index] = 128 + ((28_784 * r - 26_145 * g - 2_639 * b + 32_768) >> 16);
  }
  return { luma, blue, red };
}
