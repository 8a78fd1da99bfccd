import { readModelRequest } from '../read-model-request.js';
import { gamma } from './gamma.js';

const BASE = { model: 'gamma-3.1-fast-official', prompt: 'A paper boat in the rain.' };
const first_frame_image = 'https://example.com/first.png';
const last_frame_image = 'https://example.com/last.png';
const read = (change: object) => readModelRequest('/v1/videos/generations', { ...BASE, ...change });

describe('gamma', () => {
  it.each([
    ['text-to-video', {}],
    ['image-to-video', { first_frame_image }],
    ['first-last-frame', { first_frame_image, last_frame_image }],
  ])('routes to %s by what is sent', (mode, change) => {
    expect(read(change).mode).toBe(mode);
  });

  it.each([
    ['7.4 enhance_prompt false', { enhance_prompt: false }, 'enhance_prompt'],
    ['7.4 a quoted duration', { duration: '8' }, 'duration'],
    ['7.4 a last frame without a first', { last_frame_image }, 'last_frame_image'],
    ['7.11 3 seconds', { duration: 3 }, 'duration'],
    ['7.11 9 seconds', { duration: 9 }, 'duration'],
    ['8 no sample', { sample_count: 0 }, 'sample_count'],
    ['8 five samples', { sample_count: 5 }, 'sample_count'],
    ['8 seed 2^32', { seed: 4_294_967_296 }, 'seed'],
    ['another ratio', { aspect_ratio: '1:1' }, 'aspect_ratio'],
    ['size, which it does not have', { size: '16:9' }, 'size'],
  ])('refuses %s', (_case, change, param) => {
    expect(() => read(change)).toThrow(expect.objectContaining({ status: 400, param }));
  });

  it('reports that a quoted number must be sent without quotes', () => {
    expect(() => read({ duration: '8' })).toThrow(
      expect.objectContaining({
        publicMessage: 'duration must be a whole number from 4 to 8, not "8". Send it without quotes.',
      }),
    );
  });

  it('leaves resize_mode out of text-to-video, and says so when it was sent', () => {
    expect(read({}).parameters).not.toHaveProperty('resize_mode');
    const { parameters, notices } = read({ resize_mode: 'crop' });
    expect(parameters).not.toHaveProperty('resize_mode');
    expect(notices).toEqual(['resize_mode is for image-to-video only and has no effect here.']);
  });

  it.each([
    ['720p', '16:9', 1280, 720],
    ['720p', '9:16', 720, 1280],
    ['1080p', '16:9', 1920, 1080],
    ['1080p', '9:16', 1080, 1920],
    ['4K', '16:9', 3840, 2160],
    ['4k', '9:16', 2160, 3840],
  ])('makes %s %s in %ix%i pixels, with a first frame too', (resolution, aspect_ratio, width, height) => {
    for (const frame of [{}, { first_frame_image }]) {
      const { parameters } = read({ resolution, aspect_ratio, ...frame });
      expect(gamma.output(parameters)).toMatchObject({ size: { kind: 'fixed', width, height }, durationSeconds: 8 });
    }
  });

  it('bills the seconds of all samples, sound apart', () => {
    const { parameters } = read({ sample_count: 3, duration: 6, generate_audio: true, resolution: '4K' });
    expect(gamma.output(parameters)).toMatchObject({ count: 3, audio: true });
    expect(gamma.billing(parameters)).toEqual({
      unit: 'second',
      variant: '4K+audio',
      quantity: 18,
      settle: 'per-output',
    });
    expect(gamma.billing(read({}).parameters)).toMatchObject({ variant: '720p', quantity: 8 });
  });
});
