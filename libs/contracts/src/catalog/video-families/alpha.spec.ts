import { readModelRequest } from '../read-model-request.js';
import { alpha } from './alpha.js';

const TEXT = { model: 'alpha-2.0', prompt: 'A heron lands.' };
const url = (name: string) => `https://example.com/${name}`;
const first = { url: url('first.png'), role: 'first_frame' };
const last = { url: url('last.png'), role: 'last_frame' };
const images = (count: number) => Array.from({ length: count }, (_, index) => url(`${index}.png`));
const read = (body: object) => readModelRequest('/v1/videos/generations', { model: 'alpha-2.0', ...body });
const outputOf = (body: object) => alpha.output(read(body).parameters);

describe('alpha', () => {
  it.each([
    ['text-to-video', TEXT],
    ['image-to-video', { image_urls: images(1) }],
    ['image-to-video', { image_with_roles: [first] }],
    ['first-last-frame', { image_with_roles: [first, last] }],
    ['reference-to-video', { image_urls: images(9) }],
    ['reference-to-video', { video_urls: [url('a.mp4')] }],
    ['reference-to-video', { video_urls: [url('a.mp4')], audio_urls: [url('a.mp3')] }],
    ['reference-to-video', { image_urls: images(1), audio_urls: [url('a.mp3')] }],
    [
      'reference-to-video',
      { ...TEXT, image_urls: images(2), video_urls: [url('a.mp4')], audio_urls: [url('a.mp3')], generate_audio: true },
    ],
  ])('routes to %s by what is sent', (mode, body) => {
    expect(read(body).mode).toBe(mode);
  });

  it.each([
    ['1080p on the face model', { ...TEXT, model: 'alpha-2.0-face', resolution: '1080P' }],
    ['tools', { ...TEXT, tools: [{ type: 'web_search' }] }],
    ['empty lists as absent', { ...TEXT, image_urls: [], image_with_roles: [], video_urls: [], audio_urls: [] }],
    ['adaptive with an image', { image_urls: images(1), size: 'adaptive' }],
    ['adaptive with a video', { video_urls: [url('a.mp4')], size: 'adaptive' }],
    ['roles in any order', { image_with_roles: [last, first] }],
  ])('accepts %s', (_case, body) => {
    expect(read(body).family).toBe('alpha');
  });

  it.each([
    ['7.1 both kinds of images', { image_urls: images(1), image_with_roles: [first] }, 'image_with_roles'],
    ['7.1 frames with a video', { image_with_roles: [first], video_urls: [url('a.mp4')] }, 'image_with_roles'],
    ['7.1 frames with audio', { image_with_roles: [first], audio_urls: [url('a.mp3')] }, 'image_with_roles'],
    ['7.11 3 seconds', { ...TEXT, duration: 3 }, 'duration'],
    ['7.11 16 seconds', { ...TEXT, duration: 16 }, 'duration'],
    ['8 audio without an image', { ...TEXT, audio_urls: [url('a.mp3')] }, 'audio_urls'],
    ['8 ten images', { image_urls: images(10) }, 'image_urls'],
    ['1080p on the standard model', { ...TEXT, resolution: '1080p' }, 'resolution'],
    ['1080p on the fast model', { ...TEXT, model: 'alpha-2.0-fast', resolution: '1080p' }, 'resolution'],
    ['1080p on the fast face model', { ...TEXT, model: 'alpha-2.0-fast-face', resolution: '1080p' }, 'resolution'],
    ['no prompt and no image', {}, 'prompt'],
    ['two first frames', { image_with_roles: [first, first] }, 'image_with_roles'],
    ['a frame without a role', { image_with_roles: [{ url: first.url }] }, 'image_with_roles[0].role'],
    ['a frame without a URL', { image_with_roles: [{ role: 'first_frame' }] }, 'image_with_roles[0].url'],
    ['another role', { image_with_roles: [{ ...first, role: 'reference_image' }] }, 'image_with_roles[0].role'],
    ['an unknown member', { image_with_roles: [first, { ...last, weight: 1 }] }, 'image_with_roles[1].weight'],
    ['a tool that is a text', { ...TEXT, tools: ['web_search'] }, 'tools[0]'],
    ['adaptive without an image', { ...TEXT, size: 'adaptive' }, 'size'],
    ['a data URI', { image_urls: ['data:image/png;base64,iVBORw0KGgo='] }, 'image_urls[0]'],
    ['the parameter names of the earlier generation', { ...TEXT, aspect_ratio: '16:9' }, 'aspect_ratio'],
  ])('refuses %s', (_case, body, param) => {
    expect(() => read(body)).toThrow(expect.objectContaining({ status: 400, param }));
  });

  it('makes a video of the asked size, with sound and last frame when asked', () => {
    expect(outputOf({ ...TEXT, size: '21:9', resolution: '720p', duration: 15 })).toEqual({
      medium: 'video',
      count: 1,
      size: { kind: 'fixed', width: 1470, height: 630 },
      durationSeconds: 15,
      audio: false,
      lastFrame: false,
      watermark: false,
    });
    expect(outputOf({ ...TEXT, generate_audio: true, return_last_frame: true })).toMatchObject({
      size: { width: 832, height: 480 },
      audio: true,
      lastFrame: true,
    });
  });

  it.each([
    ['the single image', { image_urls: images(1) }, 'image_urls[0]'],
    ['the first of several images', { image_urls: images(3) }, 'image_urls[0]'],
    ['the first frame, wherever it stands', { image_with_roles: [last, first] }, 'image_with_roles[1].url'],
    ['the first video', { video_urls: [url('a.mp4'), url('b.mp4')] }, 'video_urls[0]'],
  ])('takes the adaptive ratio from %s', (_case, body, param) => {
    expect(outputOf({ ...body, size: 'adaptive' })).toMatchObject({
      size: { kind: 'like-reference', param, pixels: 832 * 480 },
    });
  });

  it('asks reference videos and audio to be of the allowed types, sizes and lengths', () => {
    const { parameters } = read({ video_urls: [url('a.mp4')], audio_urls: [url('a.mp3')] });
    expect(alpha.references(parameters)).toMatchObject([
      { param: 'video_urls[0]', limits: { minShortSidePixels: 480, maxShortSidePixels: 720, maxSeconds: 15 } },
      { param: 'audio_urls[0]', limits: { formats: ['wav', 'mp3'], maxSeconds: 15 } },
    ]);
    expect(alpha.totalSeconds(parameters)).toEqual([
      { param: 'video_urls', medium: 'video', maxSeconds: 15 },
      { param: 'audio_urls', medium: 'audio', maxSeconds: 15 },
    ]);
  });

  it('calls a single image the first frame, and several images references', () => {
    const rolesOf = (body: object) => alpha.references(read(body).parameters).map(({ role }) => role);
    expect(rolesOf({ image_urls: images(1) })).toEqual(['first_frame']);
    expect(rolesOf({ image_urls: images(2) })).toEqual(['reference', 'reference']);
    expect(rolesOf({ image_with_roles: [first, last] })).toEqual(['first_frame', 'last_frame']);
  });

  it('bills seconds by resolution', () => {
    expect(alpha.billing(read({ ...TEXT, duration: 15, resolution: '720P' }).parameters)).toEqual({
      unit: 'second',
      variant: '720p',
      quantity: 15,
      settle: 'per-output',
    });
  });
});
