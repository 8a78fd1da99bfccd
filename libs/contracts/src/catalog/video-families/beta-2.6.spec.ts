import { readModelRequest } from '../read-model-request.js';
import { beta26 } from './beta-2.6.js';

const prompt = 'A heron lands.';
const image_urls = ['https://example.com/first.png'];
const audio_url = 'https://example.com/song.mp3';
const read = (body: object) => readModelRequest('/v1/videos/generations', { model: 'beta-2.6', ...body });

describe('beta-2.6', () => {
  it.each([
    ['text-to-video', { prompt }],
    ['image-to-video', { image_urls }],
    ['image-to-video', { image_urls, prompt }],
    ['template', { image_urls, template: 'hug' }],
  ])('routes to %s by what is sent', (mode, body) => {
    expect(read(body).mode).toBe(mode);
  });

  it.each([
    'squish',
    'rotation',
    'poke',
    'inflate',
    'dissolve',
    'carousel',
    'singleheart',
    'flying',
    'rose',
    'hug',
    'frenchkiss',
    'coupleheart',
  ])('knows the template %s', (template) => {
    expect(read({ image_urls, template }).parameters).toMatchObject({ template });
  });

  it('ignores a prompt beside a template, and says so', () => {
    const { parameters, notices } = read({ image_urls, template: 'hug', prompt });
    expect(parameters).not.toHaveProperty('prompt');
    expect(notices).toEqual(['prompt is ignored because template is used.']);
  });

  it('fills in no default that the document does not show', () => {
    expect(Object.keys(read({ image_urls }).parameters)).toEqual(['model', 'image_urls', 'resolution', 'duration']);
  });

  it.each([
    ['7.6 480p', { prompt, resolution: '480p' }, 'resolution'],
    ['7.6 aspect_ratio in image mode', { image_urls, aspect_ratio: '16:9' }, 'aspect_ratio'],
    ['7.11 6 seconds', { prompt, duration: 6 }, 'duration'],
    ['8 two images', { image_urls: [...image_urls, ...image_urls] }, 'image_urls'],
    ['8 an empty list', { prompt, image_urls: [] }, 'image_urls'],
    ['a data URI', { image_urls: ['data:image/png;base64,iVBORw0KGgo='] }, 'image_urls[0]'],
    ['a template without an image', { prompt, template: 'hug' }, 'image_urls'],
    ['an unknown template', { image_urls, template: 'kiss' }, 'template'],
    ['text mode without a prompt', {}, 'prompt'],
    ['an unknown shot type', { prompt, shot_type: 'double' }, 'shot_type'],
  ])('refuses %s', (_case, body, param) => {
    expect(() => read(body)).toThrow(expect.objectContaining({ status: 400, param }));
  });

  it.each([
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
  ])('makes %s %s in %ix%i pixels', (resolution, aspect_ratio, width, height) => {
    expect(beta26.output(read({ prompt, resolution, aspect_ratio }).parameters)).toMatchObject({
      size: { kind: 'fixed', width, height },
    });
  });

  it.each([
    ['silent without a word about audio', {}, false],
    ['with automatic audio', { audio: true }, true],
    ['with custom audio, which takes priority', { audio: false, audio_url }, true],
  ])('makes a video %s', (_case, change, audio) => {
    expect(beta26.output(read({ prompt, ...change }).parameters)).toMatchObject({ audio });
  });

  it('allows custom audio as long as the video at most', () => {
    expect(beta26.references(read({ prompt, audio_url, duration: 15 }).parameters)).toMatchObject([
      { param: 'audio_url', limits: { maxSeconds: 15 } },
    ]);
  });

  it('bills seconds by resolution', () => {
    expect(beta26.billing(read({ prompt, duration: 15, resolution: '1080p' }).parameters)).toMatchObject({
      unit: 'second',
      variant: '1080p',
      quantity: 15,
    });
  });
});
