import { readModelRequest } from '../read-model-request.js';
import { epsilon23 } from './epsilon-2.3.js';

const BASE = { model: 'epsilon-2.3', prompt: 'A cat on a window sill [推进].' };
const first_frame_image = 'https://example.com/first.png';
const read = (change: object) => readModelRequest('/v1/videos/generations', { ...BASE, ...change });

describe('epsilon-2.3', () => {
  it.each([
    ['1080p for the default 6 seconds', { resolution: '1080p' }],
    ['1080p for 6 seconds', { resolution: '1080P', duration: 6 }],
    ['768p for 10 seconds', { resolution: '768p', duration: 10 }],
    ['Fast with a first frame', { model: 'epsilon-2.3-Fast', first_frame_image }],
    ['a JPEG data URI', { first_frame_image: 'data:image/jpeg;base64,/9j/4AAQ' }],
    ['a PNG data URI', { first_frame_image: 'data:image/png;base64,iVBORw0KGgo=' }],
  ])('accepts %s', (_case, change) => {
    expect(read(change).family).toBe('epsilon-2.3');
  });

  it.each([
    ['7.8 1080p for 10 seconds', { resolution: '1080p', duration: 10 }, 'duration'],
    ['7.8 Fast without a first frame', { model: 'epsilon-2.3-Fast' }, 'first_frame_image'],
    ['7.11 5 seconds', { duration: 5 }, 'duration'],
    ['512p, which only epsilon-02 has', { resolution: '512p' }, 'resolution'],
    [
      'a last frame, which only epsilon-02 has',
      { first_frame_image, last_frame_image: first_frame_image },
      'last_frame_image',
    ],
    ['a WebP data URI', { first_frame_image: 'data:image/webp;base64,UklGRg==' }, 'first_frame_image'],
    ['base64 without its prefix', { first_frame_image: '/9j/4AAQ' }, 'first_frame_image'],
    ['an empty first frame', { first_frame_image: '' }, 'first_frame_image'],
    ['a model in small letters', { model: 'epsilon-2.3-fast', first_frame_image }, 'model'],
  ])('refuses %s', (_case, change, param) => {
    expect(() => read(change)).toThrow(expect.objectContaining({ param }));
  });

  it('makes 16:9 from a text and follows the ratio of a first frame', () => {
    const sizeOf = (change: object) => epsilon23.output(read(change).parameters).size;
    expect(sizeOf({})).toEqual({ kind: 'fixed', width: 1366, height: 768 });
    expect(sizeOf({ resolution: '1080p' })).toEqual({ kind: 'fixed', width: 1920, height: 1080 });
    expect(sizeOf({ first_frame_image })).toMatchObject({ kind: 'like-reference', param: 'first_frame_image' });
  });

  it('makes silent videos and bills seconds by resolution', () => {
    const { mode, parameters } = read({ first_frame_image, duration: 10, watermark: true });
    expect(mode).toBe('image-to-video');
    expect(epsilon23.output(parameters)).toMatchObject({ audio: false, watermark: true, durationSeconds: 10 });
    expect(epsilon23.billing(parameters)).toMatchObject({ unit: 'second', variant: '768p', quantity: 10 });
  });
});
