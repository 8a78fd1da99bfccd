import { readModelRequest } from '../read-model-request.js';
import { theta } from './theta.js';

const BASE = { model: 'theta-image-turbo', prompt: 'A lighthouse.' };
const read = (change: object) => readModelRequest('/v1/images/generations', { ...BASE, ...change });

describe('theta', () => {
  it.each([
    ['n 1, which changes nothing', { n: 1 }],
    ['a prompt of 800 characters', { prompt: '𠮷'.repeat(800) }],
  ])('accepts %s', (_case, change) => {
    expect(theta.output(read(change).parameters)).toMatchObject({ count: 1 });
  });

  it.each([
    ['n 2', { n: 2 }, 'n'],
    ['n 0', { n: 0 }, 'n'],
    ['a quoted n', { n: '1' }, 'n'],
    ['reference images, which it does not have', { image_urls: ['https://example.com/a.png'] }, 'image_urls'],
    ['a negative prompt, which it does not have', { negative_prompt: 'fog' }, 'negative_prompt'],
    ['a prompt of 801 characters', { prompt: '𠮷'.repeat(801) }, 'prompt'],
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
    const sizeAt = (resolution: string) => theta.output(read({ size, resolution }).parameters).size;
    expect(sizeAt('1K')).toEqual({ kind: 'fixed', width: width1K, height: height1K });
    expect(sizeAt('2k')).toEqual({ kind: 'fixed', width: width2K, height: height2K });
  });

  it('bills one image, more when the prompt is rewritten', () => {
    expect(theta.billing(read({}).parameters)).toEqual({
      unit: 'image',
      variant: 'default',
      quantity: 1,
      settle: 'per-output',
    });
    expect(theta.billing(read({ prompt_extend: true }).parameters)).toMatchObject({ variant: 'prompt_extend' });
  });

  it('keeps its results', () => {
    expect(theta.resultTtlSeconds).toBeNull();
  });
});
