import { readModelRequest } from '../read-model-request.js';
import { iotaEdit } from './iota-edit.js';
import { iota } from './iota.js';

const url = (name: string) => `https://example.com/${name}`;

describe('iota generation', () => {
  const read = (change: object) =>
    readModelRequest('/v1/images/generations', { model: 'iota-1.0-reseller', prompt: 'A lighthouse.', ...change });

  it.each([
    ['7.1 a quoted n', { n: '2' }, 'n'],
    ['7.4 n 0', { n: 0 }, 'n'],
    ['7.4 n 11', { n: 11 }, 'n'],
    ['4:3, which only other families have', { size: '4:3' }, 'size'],
    ['resolution, which it does not have', { resolution: '1K' }, 'resolution'],
    ['no prompt', { prompt: null }, 'prompt'],
  ])('refuses %s', (_case, change, param) => {
    expect(() => read(change)).toThrow(expect.objectContaining({ status: 400, param }));
  });

  it.each([
    ['1:1', 1024, 1024],
    ['16:9', 1280, 720],
    ['9:16', 720, 1280],
    ['3:2', 1248, 832],
    ['2:3', 832, 1248],
  ])('makes %s in %ix%i pixels', (size, width, height) => {
    expect(iota.output(read({ size }).parameters).size).toEqual({ kind: 'fixed', width, height });
  });

  it('bills each image, and its links live for a day', () => {
    const { parameters } = read({ n: 10 });
    expect(iota.output(parameters)).toMatchObject({ count: 10 });
    expect(iota.billing(parameters)).toEqual({ unit: 'image', variant: 'default', quantity: 10, settle: 'per-output' });
    expect(iota.resultTtlSeconds).toBe(86_400);
  });
});

describe('iota edit', () => {
  const read = (change: object) =>
    readModelRequest('/v1/images/edits', { prompt: 'Make it night.', image_urls: [url('a.png')], ...change });

  it('fills in its model, the only one of its path', () => {
    expect(read({})).toMatchObject({ model: 'iota-1.0-edit-reseller', mode: 'image-edit' });
    expect(read({ model: null }).parameters['model']).toBe('iota-1.0-edit-reseller');
  });

  it.each([
    ['a PNG data URI', 'data:image/png;base64,iVBORw0KGgo='],
    ['a JPEG data URI', 'data:image/jpeg;base64,/9j/4AAQ'],
    ['a WebP data URI', 'data:image/webp;base64,UklGRg=='],
    ['a GIF data URI', 'data:image/gif;base64,R0lGODlh'],
  ])('accepts %s', (_case, source) => {
    expect(iotaEdit.references(read({ image_urls: [source] }).parameters)).toMatchObject([{ source }]);
  });

  it.each([
    ['7.4 n 0', { n: 0 }, 'n'],
    ['7.4 n 11', { n: 11 }, 'n'],
    ['a quoted n', { n: '1' }, 'n'],
    ['no image', { image_urls: [] }, 'image_urls'],
    ['no image_urls', { image_urls: null }, 'image_urls'],
    ['plain http', { image_urls: ['http://example.com/a.png'] }, 'image_urls[0]'],
    ['a wrong second image', { image_urls: [url('a.png'), 'b.png'] }, 'image_urls[1]'],
    ['an SVG data URI', { image_urls: ['data:image/svg+xml;base64,PHN2Zz4='] }, 'image_urls[0]'],
    ['a data URI without base64', { image_urls: ['data:image/png,abc'] }, 'image_urls[0]'],
    ['an empty data URI', { image_urls: ['data:image/png;base64,'] }, 'image_urls[0]'],
    ['size, which it does not have', { size: '1:1' }, 'size'],
  ])('refuses %s', (_case, change, param) => {
    expect(() => read(change)).toThrow(expect.objectContaining({ status: 400, param }));
  });

  it('uses only the first image, and says so', () => {
    const { parameters, notices } = read({ image_urls: [url('a.png'), url('b.png')], n: 2 });
    expect(iotaEdit.references(parameters).map(({ source }) => source)).toEqual([url('a.png')]);
    expect(notices).toEqual(['Only the first of image_urls is used.']);
    expect(iotaEdit.output(parameters)).toMatchObject({
      count: 2,
      size: { kind: 'like-reference', param: 'image_urls[0]' },
    });
  });
});
