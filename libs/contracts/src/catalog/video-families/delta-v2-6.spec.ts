import { readModelRequest } from '../read-model-request.js';
import { deltaV26 } from './delta-v2-6.js';

const BASE = { model: 'delta-v2-6', prompt: 'A street musician plays.' };
const one = ['https://example.com/first.png'];
const two = [...one, 'https://example.com/last.png'];
const read = (change: object) => readModelRequest('/v1/videos/generations', { ...BASE, ...change });

describe('delta-v2-6', () => {
  it.each([
    ['text-to-video', 'std', {}],
    ['text-to-video', 'std', { duration: 10 }],
    ['text-to-video', 'pro', { mode: 'pro', audio: true }],
    ['image-to-video', 'std', { image_urls: one, duration: 10 }],
    ['image-to-video', 'pro', { image_urls: one, mode: 'pro', audio: true }],
    ['first-last-frame', 'pro', { image_urls: two, mode: 'pro' }],
    ['first-last-frame', 'pro', { image_urls: two, mode: 'pro', audio: false }],
  ])('offers %s in %s, as the feature matrix says', (mode, grade, change) => {
    const request = read(change);
    expect(request.mode).toBe(mode);
    expect(request.parameters).toMatchObject({ mode: grade });
  });

  it.each([
    ['7.7 audio in std', { mode: 'std', audio: true }, 'audio'],
    ['7.7 audio in the default mode', { audio: true }, 'audio'],
    ['7.7 two images in std', { mode: 'std', image_urls: two }, 'image_urls'],
    ['7.7 two images in the default mode', { image_urls: two }, 'image_urls'],
    ['7.7 audio with two images in pro', { mode: 'pro', image_urls: two, audio: true }, 'audio'],
    ['7.11 6 seconds', { duration: 6 }, 'duration'],
    ['8 three images', { mode: 'pro', image_urls: [...two, ...one] }, 'image_urls'],
    ['Pro in capitals', { mode: 'Pro' }, 'mode'],
    ['4:3', { aspect_ratio: '4:3' }, 'aspect_ratio'],
    ['resolution, which mode decides', { resolution: '1080p' }, 'resolution'],
  ])('refuses %s', (_case, change, param) => {
    expect(() => read(change)).toThrow(expect.objectContaining({ status: 400, param }));
  });

  it.each([
    ['std', '16:9', 1280, 720],
    ['std', '9:16', 720, 1280],
    ['std', '1:1', 960, 960],
    ['pro', '16:9', 1920, 1080],
    ['pro', '9:16', 1080, 1920],
    ['pro', '1:1', 1440, 1440],
  ])('makes %s %s in %ix%i pixels', (mode, aspect_ratio, width, height) => {
    expect(deltaV26.output(read({ mode, aspect_ratio }).parameters)).toMatchObject({
      size: { kind: 'fixed', width, height },
    });
  });

  it('follows the ratio of an input image', () => {
    const { parameters, notices } = read({ mode: 'pro', image_urls: two, aspect_ratio: '1:1' });
    expect(notices).toEqual(['aspect_ratio has no effect with image_urls: the ratio follows the first image.']);
    expect(read({ mode: 'pro', image_urls: two }).notices).toEqual([]);
    expect(deltaV26.output(parameters)).toMatchObject({ size: { param: 'image_urls[0]', pixels: 1920 * 1080 } });
    expect(deltaV26.references(parameters).map(({ role }) => role)).toEqual(['first_frame', 'last_frame']);
  });

  it.each([
    ['std', {}],
    ['pro', { mode: 'pro' }],
    ['pro+audio', { mode: 'pro', audio: true }],
  ])('bills %s apart', (variant, change) => {
    expect(deltaV26.billing(read({ ...change, duration: 10 }).parameters)).toMatchObject({ variant, quantity: 10 });
  });
});
