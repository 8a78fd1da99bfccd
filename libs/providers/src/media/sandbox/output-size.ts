import type { MeasuredReference, OutputSize } from '#contracts';

/** Pixels, whole numbers. */
export interface PixelSize {
  readonly width: number;
  readonly height: number;
}

/**
 * The exact pixel size of an output. A size taken from a reference keeps its ratio and the planned area as closely as
 * rounding both sides to the planned multiple allows.
 *
 * @throws RangeError when the plan names a reference that is not there or has no size.
 */
export function resolveOutputSize(size: OutputSize, references: readonly MeasuredReference[]): PixelSize {
  if (size.kind === 'fixed') return { width: size.width, height: size.height };
  const reference = references.find(({ param }) => param === size.param);
  if (!reference?.width || !reference.height) {
    throw new RangeError(`the output is to be shaped like ${size.param}, which has no measured size`);
  }
  const ratio = reference.width / reference.height;
  const round = (pixels: number): number => Math.max(1, Math.round(pixels / size.multipleOf)) * size.multipleOf;
  return { width: round(Math.sqrt(size.pixels * ratio)), height: round(Math.sqrt(size.pixels / ratio)) };
}
