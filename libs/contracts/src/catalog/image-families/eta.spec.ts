import { readModelRequest } from '../read-model-request.js';
import { eta } from './eta.js';

const BASE = { model: 'eta-image-2.0', prompt: 'A lighthouse.' };
const read = (change: object) => readModelRequest('/v1/images/generations', { ...BASE, ...change });
const url = (name: string) => `https://example.com/${name}`;

describe('eta', () => {
  it('fills in the documented defaults', () => {
    expect(read({})).toMatchObject({
      family: 'eta',
      mode: 'text-to-image',
      parameters: { ...BASE, size: '1:1', resolution: '1K', n: 1 },
    });
  });

  it.each([
    ['the pro model', { model: 'eta-image-2.0-pro' }],
    ['6 images', { n: 6 }],
    ['1.0 as 1', { n: 1.0 }],
    ['2k as 2K', { resolution: '2k' }],
    ['a prompt of 800 letters', { prompt: 'a'.repeat(800) }],
    ['a prompt of 800 ideographs', { prompt: '水'.repeat(800) }],
    ['a prompt of 800 astral characters', { prompt: '𠮷'.repeat(800) }],
    ['a negative prompt of 500 characters', { negative_prompt: '水'.repeat(500) }],
    ['an empty list of references as none', { image_urls: [] }],
  ])('accepts %s', (_case, change) => {
    expect(read(change).mode).toBe('text-to-image');
  });

  it('routes to image-to-image by its references', () => {
    const { mode, parameters } = read({ image_urls: [url('a.png'), url('b.jpg')] });
    expect(mode).toBe('image-to-image');
    expect(eta.references(parameters).map(({ param, role }) => [param, role])).toEqual([
      ['image_urls[0]', 'reference'],
      ['image_urls[1]', 'reference'],
    ]);
  });

  it.each([
    ['7.4 n 0', { n: 0 }, 'n'],
    ['7.4 n 7', { n: 7 }, 'n'],
    ['7.5 a base64 reference', { image_urls: ['data:image/png;base64,iVBORw0KGgo='] }, 'image_urls[0]'],
    ['7.5 bare base64', { image_urls: ['iVBORw0KGgo='] }, 'image_urls[0]'],
    ['a quoted n', { n: '2' }, 'n'],
    ['a prompt of 801 letters', { prompt: 'a'.repeat(801) }, 'prompt'],
    ['a prompt of 801 ideographs', { prompt: '水'.repeat(801) }, 'prompt'],
    ['a prompt of 801 astral characters', { prompt: '𠮷'.repeat(801) }, 'prompt'],
    ['a negative prompt of 501 characters', { negative_prompt: 'a'.repeat(501) }, 'negative_prompt'],
    ['no prompt', { prompt: null }, 'prompt'],
    ['an empty prompt', { prompt: '' }, 'prompt'],
    ['a ratio of another family', { size: '21:9' }, 'size'],
    ['4K', { resolution: '4K' }, 'resolution'],
  ])('refuses %s', (_case, change, param) => {
    expect(() => read(change)).toThrow(expect.objectContaining({ status: 400, param }));
  });

  it.each([
    ['1:1', 1024, 1024, 2048, 2048],
    ['4:3', 1152, 864, 2048, 1536],
    ['3:4', 864, 1152, 1536, 2048],
    ['16:9', 1280, 720, 2048, 1152],
    ['9:16', 720, 1280, 1152, 2048],
    ['3:2', 1248, 832, 2048, 1360],
    ['2:3', 832, 1248, 1360, 2048],
  ])('makes %s in %ix%i at 1K and %ix%i at 2K', (size, width1K, height1K, width2K, height2K) => {
    const sizeAt = (resolution?: string) =>
      eta.output(read({ size, ...(resolution && { resolution }) }).parameters).size;
    expect(sizeAt()).toEqual({ kind: 'fixed', width: width1K, height: height1K });
    expect(sizeAt('1K')).toEqual(sizeAt());
    expect(sizeAt('2K')).toEqual({ kind: 'fixed', width: width2K, height: height2K });
  });

  it('bills each image that succeeded at a fixed price', () => {
    expect(eta.billing(read({ n: 4, resolution: '2K' }).parameters)).toEqual({
      unit: 'image',
      variant: 'default',
      quantity: 4,
      settle: 'per-output',
    });
  });
});
