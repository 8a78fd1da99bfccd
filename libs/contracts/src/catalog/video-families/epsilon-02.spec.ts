import { readModelRequest } from '../read-model-request.js';
import { epsilon02 } from './epsilon-02.js';

const BASE = { model: 'epsilon-02', prompt: 'A cat on a window sill.' };
const first_frame_image = 'https://example.com/first.png';
const last_frame_image = 'data:image/jpeg;base64,/9j/4AAQ';
const read = (change: object) => readModelRequest('/v1/videos/generations', { ...BASE, ...change });

describe('epsilon-02', () => {
  it.each([
    ['text-to-video', {}],
    ['image-to-video', { first_frame_image }],
    ['image-to-video', { last_frame_image }],
    ['first-last-frame', { first_frame_image, last_frame_image }],
  ])('routes to %s by what is sent', (mode, change) => {
    expect(read(change).mode).toBe(mode);
  });

  it.each([
    ['1080p for 5 seconds', { resolution: '1080p', duration: 5 }],
    ['512p for 10 seconds', { resolution: '512p', duration: 10 }],
    ['768p for 10 seconds', { resolution: '768P', duration: 10 }],
  ])('accepts %s', (_case, change) => {
    expect(read(change).family).toBe('epsilon-02');
  });

  it.each([
    ['7.8 1080p for 10 seconds', { resolution: '1080p', duration: 10 }, 'duration'],
    ['7.11 6 seconds', { duration: 6 }, 'duration'],
    ['720p', { resolution: '720p' }, 'resolution'],
    ['a GIF data URI', { last_frame_image: 'data:image/gif;base64,R0lGODlh' }, 'last_frame_image'],
  ])('refuses %s', (_case, change, param) => {
    expect(() => read(change)).toThrow(expect.objectContaining({ status: 400, param }));
  });

  it.each([
    ['512p', 910, 512],
    ['768p', 1366, 768],
    ['1080p', 1920, 1080],
  ])('makes %s from a text in %ix%i pixels', (resolution, width, height) => {
    expect(epsilon02.output(read({ resolution }).parameters).size).toEqual({ kind: 'fixed', width, height });
  });

  it.each([
    ['the first frame', { first_frame_image, last_frame_image }, 'first_frame_image'],
    ['the end frame when it is alone', { last_frame_image }, 'last_frame_image'],
  ])('follows the ratio of %s', (_case, change, param) => {
    expect(epsilon02.output(read(change).parameters).size).toMatchObject({ kind: 'like-reference', param });
  });

  it('bills seconds by resolution', () => {
    expect(epsilon02.billing(read({ resolution: '512p', duration: 10 }).parameters)).toMatchObject({
      variant: '512p',
      quantity: 10,
    });
  });
});
