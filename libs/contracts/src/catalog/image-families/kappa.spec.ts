import { readModelRequest } from '../read-model-request.js';
import { kappa } from './kappa.js';

const images = (count: number) => Array.from({ length: count }, (_, index) => `https://example.com/${index}.png`);
const read = (change: object) =>
  readModelRequest('/v1/images/generations', { model: 'kappa-a-4-0', prompt: 'A dog in three seasons.', ...change });
const auto = { sequential_image_generation: 'auto' };
const atMost = (max_images: number) => ({ ...auto, sequential_image_generation_options: { max_images } });

describe('kappa', () => {
  it.each(['kappa-a-4-0', 'kappa-b-4.0', 'kappa-b-4-0', 'Kappa-B-4.0'])(
    'serves %s, in this exact spelling',
    (model) => {
      expect(read({ model }).family).toBe('kappa');
    },
  );

  it.each([
    ['one reference and 14 images', { image_urls: images(1), n: 14 }],
    ['ten references and 5 images', { image_urls: images(10), n: 5 }],
    ['no reference and 15 images', { n: 15 }],
    ['ten references and max_images 5', { image_urls: images(10), ...atMost(5) }],
    ['auto size with a reference', { image_urls: images(1), size: 'auto' }],
    ['auto without max_images', { image_urls: images(2), ...auto }],
    [
      'options beside n above 1, which sets auto',
      { image_urls: images(1), n: 2, sequential_image_generation_options: {} },
    ],
    [
      'JPEG and PNG data URIs',
      { image_urls: ['data:image/jpeg;base64,/9j/4AAQ', 'data:image/png;base64,iVBORw0KGgo='] },
    ],
    ['plain http', { image_urls: ['http://example.com/a.png'] }],
  ])('accepts %s', (_case, change) => {
    expect(read(change).family).toBe('kappa');
  });

  it.each([
    ['7.1 a quoted n', { n: '3' }, 'n'],
    ['7.2 auto size without a reference', { size: 'auto' }, 'size'],
    ['7.2 auto size with an empty list', { size: 'auto', image_urls: [] }, 'size'],
    ['7.3 one reference and 15 images', { image_urls: images(1), n: 15 }, 'n'],
    ['7.3 ten references and 6 images', { image_urls: images(10), n: 6 }, 'n'],
    ['7.3 ten references and max_images 6', { image_urls: images(10), ...atMost(6) }, 'n'],
    ['7.4 n 0', { n: 0 }, 'n'],
    ['7.4 n 16', { n: 16 }, 'n'],
    ['7.4 eleven references', { image_urls: images(11) }, 'image_urls'],
    ['8 max_images 0', { ...atMost(0) }, 'sequential_image_generation_options.max_images'],
    ['8 max_images 16', { ...atMost(16) }, 'sequential_image_generation_options.max_images'],
    [
      'options without auto',
      { sequential_image_generation_options: { max_images: 3 } },
      'sequential_image_generation_options',
    ],
    ['options as a list', { ...auto, sequential_image_generation_options: [] }, 'sequential_image_generation_options'],
    ['bare base64', { image_urls: ['/9j/4AAQ'] }, 'image_urls[0]'],
    ['a WebP data URI', { image_urls: ['data:image/webp;base64,UklGRg=='] }, 'image_urls[0]'],
    ['image/jpg, which is no type', { image_urls: ['data:image/jpg;base64,/9j/4AAQ'] }, 'image_urls[0]'],
    ['another optimisation', { optimize_prompt_options: 'slow' }, 'optimize_prompt_options'],
  ])('refuses %s', (_case, change, param) => {
    expect(() => read(change)).toThrow(expect.objectContaining({ status: 400, param }));
  });

  it('refuses a data URI of more than 10 MB decoded, and takes one of exactly 10 MB', () => {
    const dataUri = (bytes: number) => `data:image/png;base64,${Buffer.alloc(bytes).toString('base64')}`;
    const limit = 10 * 1024 * 1024;
    expect(read({ image_urls: [dataUri(limit)] }).family).toBe('kappa');
    expect(() => read({ image_urls: [dataUri(limit + 1)] })).toThrow(
      expect.objectContaining({ publicMessage: 'image_urls[0] must hold at most 10 MB of decoded data.' }),
    );
  });

  it('asks each reference for type, sides, ratio and size', () => {
    expect(kappa.references(read({ image_urls: images(1) }).parameters)).toEqual([
      {
        param: 'image_urls[0]',
        medium: 'image',
        role: 'reference',
        source: images(1)[0],
        limits: {
          formats: ['jpeg', 'png'],
          maxBytes: 10 * 1024 * 1024,
          minSidePixels: 15,
          maxPixels: 36_000_000,
          ratio: { min: 1 / 3, max: 3 },
        },
      },
    ]);
  });

  it.each([
    ['one image from a text', {}, 1, 1, 'as-held'],
    ['n images from a reference', { image_urls: images(1), n: 3 }, 3, 3, 'per-output'],
    ['max_images from a reference', { image_urls: images(1), ...atMost(3) }, 3, 3, 'per-output'],
    ['the larger of n and max_images', { image_urls: images(1), n: 2, ...atMost(4) }, 4, 4, 'per-output'],
    ['one image from several references', { image_urls: images(4) }, 1, 1, 'as-held'],
    ['one image from a text, whatever n is', { n: 3 }, 1, 3, 'per-output'],
    ['one image from a text, whatever max_images is', atMost(3), 1, 3, 'per-output'],
  ])('makes %s', (_case, change, count, quantity, settle) => {
    const { parameters, notices } = read(change);
    expect(kappa.output(parameters)).toMatchObject({ count });
    expect(kappa.billing(parameters)).toEqual({ unit: 'image', variant: '2K', quantity, settle });
    expect(notices).toHaveLength(count < quantity ? 1 : 0);
  });

  it('sets sequential generation to auto when n is above 1, even against the request', () => {
    const set = (change: object) => read(change).parameters['sequential_image_generation'];
    expect(set({})).toBe('disabled');
    expect(set({ image_urls: images(1), n: 2 })).toBe('auto');
    expect(set({ image_urls: images(1), n: 2, sequential_image_generation: 'disabled' })).toBe('auto');
  });

  it.each([
    ['1K', '1:1', 1024, 1024],
    ['1K', '16:9', 1280, 720],
    ['2K', '1:1', 2048, 2048],
    ['2K', '16:9', 2560, 1440],
    ['4K', '1:1', 4096, 4096],
    ['4K', '16:9', 5404, 3040],
    ['4k', '9:16', 3040, 5404],
    ['2K', '9:21', 1296, 3024],
  ])('makes %s %s in %ix%i pixels', (resolution, size, width, height) => {
    expect(kappa.output(read({ resolution, size }).parameters).size).toEqual({ kind: 'fixed', width, height });
  });

  it('takes the ratio of the first reference for size auto, at the area of the resolution', () => {
    const { parameters } = read({ image_urls: images(2), size: 'auto', resolution: '4K' });
    expect(kappa.output(parameters).size).toEqual({
      kind: 'like-reference',
      param: 'image_urls[0]',
      pixels: 4096 * 4096,
      multipleOf: 8,
    });
  });

  it('keeps links for a day', () => {
    expect(kappa.resultTtlSeconds).toBe(86_400);
  });
});
