import { readModelRequest } from '../read-model-request.js';
import { beta27R2v } from './beta-2.7-r2v.js';

const url = (name: string) => `https://example.com/${name}`;
const images = (count: number) => Array.from({ length: count }, (_, index) => ({ url: url(`${index}.png`) }));
const videos = (count: number) => Array.from({ length: count }, (_, index) => url(`${index}.mp4`));
const firstFrame = { url: url('first.png'), role: 'first_frame' };
const read = (body: object) =>
  readModelRequest('/v1/videos/generations', { model: 'beta-2.7-r2v', prompt: '图1 meets 视频1.', ...body });

describe('beta-2.7-r2v', () => {
  it.each([
    ['one image', { image_with_roles: images(1) }],
    ['five images', { image_with_roles: images(5) }],
    ['five videos', { video_urls: videos(5) }],
    ['two images and three videos', { image_with_roles: images(2), video_urls: videos(3) }],
    ['10 seconds with a video', { video_urls: videos(1), duration: 10 }],
    ['15 seconds with images only', { image_with_roles: images(1), duration: 15 }],
    ['2 seconds', { video_urls: videos(1), duration: 2 }],
  ])('accepts %s', (_case, body) => {
    expect(read(body).mode).toBe('reference-to-video');
  });

  it.each([
    ['7.3 no reference at all', {}, 'image_with_roles'],
    ['7.3 three images and three videos', { image_with_roles: images(3), video_urls: videos(3) }, 'image_with_roles'],
    ['7.3 six images', { image_with_roles: images(6) }, 'image_with_roles'],
    ['7.3 six videos', { video_urls: videos(6) }, 'video_urls'],
    ['7.3 an empty list of images', { image_with_roles: [] }, 'image_with_roles'],
    ['7.3 an empty list of videos', { image_with_roles: images(1), video_urls: [] }, 'video_urls'],
    ['8 11 seconds with a video', { video_urls: videos(1), duration: 11 }, 'duration'],
    ['8 16 seconds with images only', { image_with_roles: images(1), duration: 16 }, 'duration'],
    ['8 1 second', { image_with_roles: images(1), duration: 1 }, 'duration'],
    ['two first frames', { image_with_roles: [firstFrame, firstFrame] }, 'image_with_roles'],
    [
      'the role of another family',
      { image_with_roles: [{ ...firstFrame, role: 'last_frame' }] },
      'image_with_roles[0].role',
    ],
    [
      'a voice that is no URL',
      { image_with_roles: [{ ...firstFrame, reference_voice: 'low' }] },
      'image_with_roles[0].reference_voice',
    ],
    ['no prompt', { image_with_roles: images(1), prompt: null }, 'prompt'],
    ['image_urls, which it does not have', { image_with_roles: images(1), image_urls: [url('a.png')] }, 'image_urls'],
  ])('refuses %s', (_case, body, param) => {
    expect(() => read(body)).toThrow(expect.objectContaining({ status: 400, param }));
  });

  it('lists images, videos and voices in input order, each with its limits', () => {
    const voice = { url: url('b.png'), reference_voice: url('voice.mp3') };
    const { parameters } = read({ image_with_roles: [firstFrame, voice], video_urls: videos(1) });
    expect(beta27R2v.references(parameters)).toMatchObject([
      { param: 'image_with_roles[0].url', role: 'first_frame' },
      { param: 'image_with_roles[1].url', role: 'reference' },
      { param: 'video_urls[0]', role: 'reference', limits: { minSeconds: 1, maxSeconds: 30, minSidePixels: 240 } },
      { param: 'image_with_roles[1].reference_voice', role: 'voice', medium: 'audio' },
    ]);
    expect(beta27R2v.output(parameters)).toMatchObject({ audio: true });
  });

  it('follows the ratio of a first frame and then ignores size, saying so', () => {
    const { mode, parameters, notices } = read({ image_with_roles: [...images(1), firstFrame], size: '1:1' });
    expect(mode).toBe('first-frame-reference-to-video');
    expect(parameters).not.toHaveProperty('size');
    expect(notices).toEqual(['size is ignored with a first_frame image: the ratio follows it.']);
    expect(beta27R2v.output(parameters)).toMatchObject({ size: { param: 'image_with_roles[1].url' } });
  });

  it('keeps size without a first frame', () => {
    const { parameters, notices } = read({ image_with_roles: images(1), size: '1:1', resolution: '720P' });
    expect(notices).toEqual([]);
    expect(beta27R2v.output(parameters)).toMatchObject({ size: { width: 960, height: 960 }, audio: false });
  });

  it('bills seconds by resolution', () => {
    expect(beta27R2v.billing(read({ video_urls: videos(1), duration: 7 }).parameters)).toEqual({
      unit: 'second',
      variant: '1080P',
      quantity: 7,
      settle: 'per-output',
    });
  });
});
