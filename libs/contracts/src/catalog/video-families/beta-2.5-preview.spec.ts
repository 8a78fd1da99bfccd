import { readModelRequest } from '../read-model-request.js';
import { beta25Preview } from './beta-2.5-preview.js';

const TEXT = { model: 'beta-2.5-preview', prompt: 'A heron lands.' };
const IMAGE = { model: 'beta-2.5-preview', image_urls: ['https://example.com/first.png'] };
const read = (body: object) => readModelRequest('/v1/videos/generations', body);

describe('beta-2.5-preview', () => {
  it('fills in the documented defaults in text mode', () => {
    expect(read(TEXT)).toMatchObject({
      family: 'beta-2.5-preview',
      medium: 'video',
      mode: 'text-to-video',
      parameters: {
        ...TEXT,
        resolution: '720p',
        duration: 5,
        size: '16:9',
        prompt_extend: true,
        audio: true,
        watermark: false,
      },
      notices: [],
    });
  });

  it('takes one image as the first frame, and then fills in no size', () => {
    const { mode, parameters } = read(IMAGE);
    expect(mode).toBe('image-to-video');
    expect(parameters).not.toHaveProperty('size');
    expect(beta25Preview.references(parameters)).toMatchObject([
      { param: 'image_urls[0]', medium: 'image', role: 'first_frame', source: 'https://example.com/first.png' },
    ]);
    expect(beta25Preview.output(parameters)).toMatchObject({
      size: { kind: 'like-reference', param: 'image_urls[0]', pixels: 1280 * 720 },
    });
  });

  it.each([
    ['each resolution', { ...TEXT, resolution: '1080p' }],
    ['a resolution in capitals', { ...TEXT, resolution: '480P' }],
    ['480p in 1:1', { ...TEXT, resolution: '480p', size: '1:1' }],
    ['4:3 at the default 720p', { ...TEXT, size: '4:3' }],
    ['4:3 at 1080p', { ...TEXT, size: '4:3', resolution: '1080p' }],
    ['10 seconds', { ...TEXT, duration: 10 }],
    ['seed 0', { ...TEXT, seed: 0 }],
    ['a null field as absent', { ...TEXT, seed: null, image_urls: null }],
    ['a negative prompt of 500 characters', { ...TEXT, negative_prompt: '𠮷'.repeat(500) }],
    ['audio true', { ...TEXT, audio: true }],
    ['own audio', { ...TEXT, audio_url: 'https://example.com/song.mp3' }],
    ['a PNG data URI', { ...IMAGE, image_urls: ['data:image/png;base64,iVBORw0KGgo='] }],
    ['a prompt with an image', { ...IMAGE, prompt: 'It moves.' }],
  ])('accepts %s', (_case, body) => {
    expect(read(body).model).toBe('beta-2.5-preview');
  });

  it.each([
    ['7.5 audio false', { ...TEXT, audio: false }, 'audio'],
    ['7.5 size in image mode', { ...IMAGE, size: '16:9' }, 'size'],
    ['7.5 4:3 at 480p', { ...TEXT, size: '4:3', resolution: '480p' }, 'size'],
    ['7.5 3:4 at 480P', { ...TEXT, size: '3:4', resolution: '480P' }, 'size'],
    ['7.11 a duration between 5 and 10', { ...TEXT, duration: 6 }, 'duration'],
    ['a quoted duration', { ...TEXT, duration: '5' }, 'duration'],
    ['a quoted flag', { ...TEXT, watermark: 'true' }, 'watermark'],
    ['no prompt in text mode', { model: TEXT.model }, 'prompt'],
    ['a blank prompt in text mode', { ...TEXT, prompt: ' \n' }, 'prompt'],
    ['no image in the list', { ...IMAGE, image_urls: [] }, 'image_urls'],
    ['two images', { ...IMAGE, image_urls: ['https://example.com/a.png', 'https://example.com/b.png'] }, 'image_urls'],
    ['a JPEG data URI', { ...IMAGE, image_urls: ['data:image/jpeg;base64,/9j/'] }, 'image_urls[0]'],
    ['a file that is no URL', { ...IMAGE, image_urls: ['first.png'] }, 'image_urls[0]'],
    ['a negative prompt of 501 characters', { ...TEXT, negative_prompt: '水'.repeat(501) }, 'negative_prompt'],
    ['seed -1', { ...TEXT, seed: -1 }, 'seed'],
    ['seed 1.5', { ...TEXT, seed: 1.5 }, 'seed'],
    ['another ratio', { ...TEXT, size: '21:9' }, 'size'],
    ['a NUL in the prompt', { ...TEXT, prompt: 'a\0b' }, 'prompt'],
    ['an unknown field', { ...TEXT, aspect_ratio: '16:9' }, 'aspect_ratio'],
  ])('refuses %s', (_case, body, param) => {
    expect(() => read(body)).toThrow(expect.objectContaining({ status: 400, param }));
  });

  it.each([
    ['480p', '16:9', 832, 480],
    ['480p', '9:16', 480, 832],
    ['480p', '1:1', 624, 624],
    ['720p', '16:9', 1280, 720],
    ['720p', '9:16', 720, 1280],
    ['720p', '1:1', 960, 960],
    ['720p', '4:3', 1088, 832],
    ['720p', '3:4', 832, 1088],
    ['1080p', '16:9', 1920, 1080],
    ['1080p', '9:16', 1080, 1920],
    ['1080p', '1:1', 1440, 1440],
    ['1080p', '4:3', 1632, 1248],
    ['1080p', '3:4', 1248, 1632],
  ])('makes %s %s in %ix%i pixels, with sound', (resolution, size, width, height) => {
    const { parameters } = read({ ...TEXT, resolution, size, duration: 10 });
    expect(beta25Preview.output(parameters)).toEqual({
      medium: 'video',
      count: 1,
      size: { kind: 'fixed', width, height },
      durationSeconds: 10,
      audio: true,
      lastFrame: false,
      watermark: false,
    });
  });

  it('bills seconds by resolution', () => {
    const { parameters } = read({ ...TEXT, resolution: '1080p', duration: 10 });
    expect(beta25Preview.billing(parameters)).toEqual({
      unit: 'second',
      variant: '1080p',
      quantity: 10,
      settle: 'per-output',
    });
  });
});
