import { readModelRequest } from '../read-model-request.js';
import { beta27 } from './beta-2.7.js';

const prompt = 'A heron lands.';
const url = (name: string) => `https://example.com/${name}`;
const first = { url: url('first.png'), role: 'first_frame' };
const last = { url: url('last.png'), role: 'last_frame' };
const video_urls = [url('a.mp4')];
const read = (body: object) => readModelRequest('/v1/videos/generations', { model: 'beta-2.7', ...body });

describe('beta-2.7', () => {
  it.each([
    ['text-to-video', { prompt }],
    ['text-to-video', { prompt, audio_url: url('a.mp3') }],
    ['image-to-video', { image_urls: [url('a.png')] }],
    ['image-to-video', { image_urls: [url('a.png')], audio_url: url('a.mp3') }],
    ['first-last-frame', { image_urls: [url('a.png'), url('b.png')] }],
    ['first-last-frame', { image_with_roles: [first, last] }],
    ['video-continuation', { video_urls }],
    ['video-continuation', { video_urls, image_with_roles: [last] }],
  ])('routes to %s by what is sent', (mode, body) => {
    expect(read(body).mode).toBe(mode);
  });

  it.each([
    ['7.2 a video with images', { video_urls, image_urls: [url('a.png')] }, 'video_urls'],
    ['7.2 a video with a first frame', { video_urls, image_with_roles: [first] }, 'video_urls'],
    [
      '7.2 a video with a frame of the default role',
      { video_urls, image_with_roles: [{ url: url('a.png') }] },
      'video_urls',
    ],
    ['7.2 a video with first and last frame', { video_urls, image_with_roles: [first, last] }, 'video_urls'],
    ['7.2 a video with audio', { video_urls, audio_url: url('a.mp3') }, 'audio_url'],
    ['7.2 both kinds of images', { image_urls: [url('a.png')], image_with_roles: [last] }, 'image_with_roles'],
    ['7.11 1 second', { prompt, duration: 1 }, 'duration'],
    ['7.11 16 seconds', { prompt, duration: 16 }, 'duration'],
    ['three images', { image_urls: [url('a.png'), url('b.png'), url('c.png')] }, 'image_urls'],
    ['two last frames', { image_with_roles: [last, last] }, 'image_with_roles'],
    [
      'two frames of the default role',
      { image_with_roles: [{ url: url('a') }, { url: url('b') }] },
      'image_with_roles',
    ],
    ['text mode without a prompt', {}, 'prompt'],
    ['480P', { prompt, resolution: '480P' }, 'resolution'],
  ])('refuses %s', (_case, body, param) => {
    expect(() => read(body)).toThrow(expect.objectContaining({ status: 400, param }));
  });

  it('fills in the role first_frame', () => {
    expect(read({ image_with_roles: [{ url: url('a.png') }] }).parameters['image_with_roles']).toEqual([
      { url: url('a.png'), role: 'first_frame' },
    ]);
  });

  it('leaves size out of image mode, and says so when it was sent', () => {
    const silent = read({ image_urls: [url('a.png')] });
    expect(silent.parameters).not.toHaveProperty('size');
    expect(silent.notices).toEqual([]);
    const checked = read({ image_urls: [url('a.png')], size: '1:1' });
    expect(checked.parameters).not.toHaveProperty('size');
    expect(checked.notices).toEqual(['size is ignored in image mode: the ratio follows the input.']);
  });

  it('uses and checks only the first of several videos, and says so', () => {
    const { parameters, notices } = read({ video_urls: [url('a.mp4'), url('b.mp4')] });
    expect(notices).toEqual(['Only the first of video_urls is used.']);
    expect(beta27.references(parameters)).toEqual([
      {
        param: 'video_urls[0]',
        medium: 'video',
        role: 'reference',
        source: url('a.mp4'),
        limits: {
          formats: ['mp4', 'mov'],
          maxBytes: 100 * 1024 * 1024,
          minSidePixels: 240,
          maxSidePixels: 4096,
          ratio: { min: 1 / 8, max: 8 },
          minSeconds: 2,
          maxSeconds: 10,
        },
      },
    ]);
  });

  it('asks audio for 2 to 30 seconds and 15 MB', () => {
    expect(beta27.references(read({ prompt, audio_url: url('a.mp3') }).parameters)).toMatchObject([
      {
        param: 'audio_url',
        limits: { formats: ['wav', 'mp3'], minSeconds: 2, maxSeconds: 30, maxBytes: 15 * 1024 * 1024 },
      },
    ]);
  });

  it.each([
    ['720P', '16:9', 1280, 720],
    ['1080P', '3:4', 1248, 1632],
    ['720p', '1:1', 960, 960],
  ])('makes %s %s in %ix%i pixels', (resolution, size, width, height) => {
    expect(beta27.output(read({ prompt, resolution, size }).parameters)).toMatchObject({
      size: { kind: 'fixed', width, height },
      audio: false,
    });
  });

  it.each([
    ['the first image', { image_urls: [url('a.png'), url('b.png')] }, 'image_urls[0]'],
    ['the first frame', { image_with_roles: [last, first] }, 'image_with_roles[1].url'],
    ['the video', { video_urls, image_with_roles: [last] }, 'video_urls[0]'],
  ])('follows the ratio of %s', (_case, body, param) => {
    expect(beta27.output(read(body).parameters)).toMatchObject({ size: { param, pixels: 1920 * 1080 } });
  });

  it('bills text and image mode alike', () => {
    const text = beta27.billing(read({ prompt, duration: 15 }).parameters);
    expect(text).toEqual({ unit: 'second', variant: '1080P', quantity: 15, settle: 'per-output' });
    expect(beta27.billing(read({ image_urls: [url('a.png')], duration: 15 }).parameters)).toEqual(text);
  });
});
