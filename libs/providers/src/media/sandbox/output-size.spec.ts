import type { MeasuredReference } from '#contracts';
import { resolveOutputSize } from './sandbox-operation.js';

const reference = (width: number, height: number): MeasuredReference => ({
  param: 'image_urls[0]',
  medium: 'image',
  role: 'first_frame',
  source: 'https://example.com/a.png',
  format: 'png',
  bytes: 1,
  width,
  height,
});
const like = (pixels: number, multipleOf: number) =>
  ({ kind: 'like-reference', param: 'image_urls[0]', pixels, multipleOf }) as const;

describe('resolveOutputSize', () => {
  it('keeps a fixed size as it is', () => {
    expect(resolveOutputSize({ kind: 'fixed', width: 5404, height: 3040 }, [])).toEqual({ width: 5404, height: 3040 });
  });

  it.each([
    [1920, 1080, 1280 * 720, 16, 1280, 720],
    [1080, 1920, 1280 * 720, 16, 720, 1280],
    [500, 500, 2048 * 2048, 8, 2048, 2048],
    [4000, 500, 1280 * 720, 16, 2720, 336],
    [500, 4000, 1280 * 720, 16, 336, 2720],
    [15, 45, 1024 * 1024, 2, 592, 1774],
  ])(
    'takes the ratio of %i x %i at %i pixels and multiples of %i',
    (width, height, pixels, multipleOf, outWidth, outHeight) => {
      const size = resolveOutputSize(like(pixels, multipleOf), [reference(width, height)]);
      expect(size).toEqual({ width: outWidth, height: outHeight });
    },
  );

  it('never rounds a side down to nothing', () => {
    expect(resolveOutputSize(like(256, 16), [reference(4000, 10)])).toEqual({ width: 320, height: 16 });
  });

  it('refuses a plan whose reference is missing or has no size', () => {
    expect(() => resolveOutputSize(like(256, 16), [])).toThrow('image_urls[0]');
    const { width: _width, ...audio } = reference(1, 1);
    expect(() => resolveOutputSize(like(256, 16), [audio])).toThrow('no measured size');
  });
});
