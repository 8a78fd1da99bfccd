import { readModelRequest } from '../read-model-request.js';
import { zetaQ3 } from './zeta-q3.js';

const BASE = { model: 'zeta-q3', prompt: 'She runs along the beach.', image_urls: ['https://example.com/her.png'] };
const mix = { model: 'zeta-q3-mix' };
const images = (count: number) => Array.from({ length: count }, (_, index) => `https://example.com/${index}.png`);
const read = (change: object) => readModelRequest('/v1/videos/generations', { ...BASE, ...change });

describe('zeta-q3 and zeta-q3-mix', () => {
  it.each([
    ['zeta-q3 for 3 seconds', { duration: 3 }],
    ['zeta-q3 for 16 seconds', { duration: 16 }],
    ['zeta-q3-mix for 1 second', { ...mix, duration: 1 }],
    ['zeta-q3 in 540p', { resolution: '540p' }],
    ['zeta-q3-mix in 720p', { ...mix, resolution: '720P' }],
    ['seven images', { image_urls: images(7) }],
  ])('accepts %s', (_case, change) => {
    expect(read(change).mode).toBe('reference-to-video');
  });

  it.each([
    ['7.10 zeta-q3-mix in 540p', { ...mix, resolution: '540p' }, 'resolution'],
    ['7.10 zeta-q3 for 2 seconds', { duration: 2 }, 'duration'],
    ['7.10 zeta-q3-mix for no second', { ...mix, duration: 0 }, 'duration'],
    ['7.11 17 seconds', { duration: 17 }, 'duration'],
    ['8 no image', { image_urls: [] }, 'image_urls'],
    ['8 eight images', { image_urls: images(8) }, 'image_urls'],
    ['no image_urls', { image_urls: null }, 'image_urls'],
    ['no prompt', { prompt: undefined }, 'prompt'],
    ['a data URI', { image_urls: ['data:image/png;base64,iVBORw0KGgo='] }, 'image_urls[0]'],
    ['audio, which it does not have', { audio: true }, 'audio'],
  ])('refuses %s', (_case, change, param) => {
    expect(() => read(change)).toThrow(expect.objectContaining({ status: 400, param }));
  });

  it('asks each image for type, sides, ratio and size', () => {
    expect(zetaQ3.references(read({ image_urls: images(2) }).parameters)).toMatchObject([
      {
        param: 'image_urls[0]',
        role: 'reference',
        limits: {
          formats: ['png', 'jpeg', 'webp'],
          maxBytes: 50 * 1024 * 1024,
          minSidePixels: 128,
          ratio: { min: 1 / 4, max: 4 },
        },
      },
      { param: 'image_urls[1]' },
    ]);
  });

  it('makes a silent video of the asked ratio and bills seconds by resolution', () => {
    const { parameters } = read({ aspect_ratio: '3:4', resolution: '1080p', duration: 16 });
    expect(zetaQ3.output(parameters)).toMatchObject({ size: { width: 1248, height: 1632 }, audio: false });
    expect(zetaQ3.billing(parameters)).toMatchObject({ unit: 'second', variant: '1080p', quantity: 16 });
  });
});
