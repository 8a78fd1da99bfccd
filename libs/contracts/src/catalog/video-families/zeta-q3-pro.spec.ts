import { readModelRequest } from '../read-model-request.js';
import { zetaQ3Pro } from './zeta-q3-pro.js';

const prompt = 'Two friends talk at a bus stop.';
const one = ['https://example.com/first.png'];
const two = [...one, 'https://example.com/last.png'];
const read = (body: object) => readModelRequest('/v1/videos/generations', { model: 'zeta-q3-pro', ...body });

describe('zeta-q3-pro and zeta-q3-turbo', () => {
  it.each([
    ['text-to-video', { prompt }],
    ['text-to-video', { prompt, image_urls: [] }],
    ['image-to-video', { image_urls: one }],
    ['first-last-frame', { image_urls: two }],
    ['first-last-frame', { image_urls: two, prompt, model: 'zeta-q3-turbo' }],
  ])('routes to %s by the number of images', (mode, body) => {
    expect(read(body).mode).toBe(mode);
  });

  it.each([
    ['7.9 aspect_ratio with one image', { image_urls: one, aspect_ratio: '16:9' }, 'aspect_ratio'],
    ['7.9 aspect_ratio with two images', { image_urls: two, aspect_ratio: '16:9' }, 'aspect_ratio'],
    ['7.9 three images', { image_urls: [...two, ...one] }, 'image_urls'],
    ['7.11 no second', { prompt, duration: 0 }, 'duration'],
    ['7.11 17 seconds', { prompt, duration: 17 }, 'duration'],
    ['8 seed -2', { prompt, seed: -2 }, 'seed'],
    ['8 seed 2^32', { prompt, seed: 4_294_967_296 }, 'seed'],
    ['text mode without a prompt', {}, 'prompt'],
    ['480p', { prompt, resolution: '480p' }, 'resolution'],
  ])('refuses %s', (_case, body, param) => {
    expect(() => read(body)).toThrow(expect.objectContaining({ status: 400, param }));
  });

  it.each([
    ['540p', '16:9', 960, 540],
    ['540p', '9:16', 540, 960],
    ['540p', '1:1', 720, 720],
    ['540p', '4:3', 832, 624],
    ['540p', '3:4', 624, 832],
    ['1080p', '4:3', 1632, 1248],
  ])('makes %s %s in %ix%i pixels', (resolution, aspect_ratio, width, height) => {
    expect(zetaQ3Pro.output(read({ prompt, resolution, aspect_ratio }).parameters).size).toEqual({
      kind: 'fixed',
      width,
      height,
    });
  });

  it('makes 16:9 with sound by default, and silence when asked', () => {
    const { parameters } = read({ prompt });
    expect(parameters).not.toHaveProperty('aspect_ratio');
    expect(zetaQ3Pro.output(parameters)).toMatchObject({ size: { width: 1280, height: 720 }, audio: true });
    expect(zetaQ3Pro.output(read({ prompt, audio: false }).parameters)).toMatchObject({ audio: false });
  });

  it('follows the ratio of the first image', () => {
    const { parameters } = read({ image_urls: two });
    expect(zetaQ3Pro.references(parameters).map(({ role }) => role)).toEqual(['first_frame', 'last_frame']);
    expect(zetaQ3Pro.output(parameters).size).toMatchObject({ kind: 'like-reference', param: 'image_urls[0]' });
  });

  it('bills seconds by resolution', () => {
    expect(zetaQ3Pro.billing(read({ prompt, duration: 16, resolution: '540p' }).parameters)).toMatchObject({
      variant: '540p',
      quantity: 16,
    });
  });
});
