import type { Colour } from './canvas.js';

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
