import { atBest } from '#testing';
import type { JsonObject } from '../json.js';
import { CATALOG, familyOf } from './catalog.js';
import type { FileSource } from './field.js';
import { fileUrls, hasParsableHost, isParsableUrl, wrongSource } from './file-source.js';

const WEB: FileSource = { medium: 'image', inline: [], maxInlineBytes: 1024, httpsOnly: false };
const INLINE: FileSource = { ...WEB, inline: ['png', 'jpeg'] };

/** Its punycode takes a second and more. */
const LONG_HOST = `${Array.from({ length: 30_000 }, (_, index) => String.fromCodePoint(0x4e00 + ((index * 7_919) % 20_000))).join('')}.com`;

describe('A URL from outside', () => {
  it.each([
    `https://${LONG_HOST}/`,
    `https:/\t/${LONG_HOST}`,
    `https:\n\\/\r${LONG_HOST}/`,
    ` HTTPS:////${LONG_HOST}`,
    `https:${LONG_HOST}`,
    `https://user:pass@${LONG_HOST}`,
  ])('is not parsed where its host is longer than any: %.16s', async (url) => {
    expect(await atBest(20, () => hasParsableHost(url))).toBeLessThan(20);
    expect(hasParsableHost(url)).toBe(false);
    expect([isParsableUrl(url), isParsableUrl(url.slice(0, 8_000))]).toEqual([false, false]);
  });

  it.each([
    `https://${'a'.repeat(63)}.example:8443/${LONG_HOST.slice(0, 4_000)}?x=https://${'b'.repeat(600)}#y`,
    'http://[2001:db8::1]/a',
    'https://exämple.com/水.png',
    `https://a.example?${'q'.repeat(2_000)}`,
    `https://a.example\\${'q'.repeat(2_000)}`,
  ])('is parsed whatever else is long: %.40s', (url) => {
    expect(isParsableUrl(url)).toBe(true);
  });
});

describe('wrongSource', () => {
  it.each([
    'https://example.com/a.png',
    'HTTP://EXAMPLE.COM/a.png',
    'https://example.com:8443/a%20b.png?x=1&y=%E6%B0%B4#z',
    'https://exämple.com/水.png',
    'https://[2001:db8::1]/a.png',
    `https://example.com/${'a'.repeat(8_172)}`,
  ])('accepts %.60s', (url) => {
    expect(wrongSource(url, WEB)).toBeNull();
  });

  it.each([
    '',
    'example.com/a.png',
    '//example.com/a.png',
    'ftp://example.com/a.png',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http://',
    'https://example.com/a b.png',
    ' https://example.com/a.png',
    'https://example.com/a\n.png',
    'https://example.com/\0',
    'https://example.com/\ud800',
    'https://exa mple.com',
    'https://example.com:99999/',
    `https://example.com/${'a'.repeat(8_173)}`,
  ])('refuses %.60j', (url) => {
    expect(wrongSource(url, WEB)).toMatch(/^must be a/);
  });

  it('refuses inline data where only URLs are taken, and says why', () => {
    expect(wrongSource('data:image/png;base64,AAAA', WEB)).toBe(
      'must be a public http(s) URL; inline data (base64) is not supported here',
    );
  });

  it.each([
    ['another type', 'data:image/gif;base64,AAAA'],
    ['no type', 'data:;base64,AAAA'],
    ['no base64', 'data:image/png,AAAA'],
    ['parameters', 'data:image/png;charset=utf-8;base64,AAAA'],
    ['no data', 'data:image/png;base64,'],
    ['padding only', 'data:image/png;base64,=='],
    ['URL-safe letters', 'data:image/png;base64,AA-_'],
    ['line breaks', 'data:image/png;base64,AA\nAA'],
    ['three paddings', 'data:image/png;base64,A==='],
  ])('refuses a data URI with %s', (_case, uri) => {
    expect(wrongSource(uri, INLINE)).not.toBeNull();
  });

  it('counts decoded bytes, not letters', () => {
    const uri = (bytes: number) => `data:image/jpeg;base64,${Buffer.alloc(bytes).toString('base64')}`;
    for (const bytes of [1022, 1023, 1024]) expect(wrongSource(uri(bytes), INLINE)).toBeNull();
    expect(wrongSource(uri(1025), INLINE)).toMatch(/^must hold at most/);
  });

  it('checks 20 MB of base64 quickly', async () => {
    const uri = `data:image/png;base64,${'A'.repeat(20_000_000)}`;
    const rules = { ...INLINE, maxInlineBytes: 20_000_000 };
    expect(wrongSource(uri, rules)).toBeNull();
    expect(await atBest(3_000, () => wrongSource(uri, rules))).toBeLessThan(3_000);
  });
});

/** The URLs that a body points at files with, by its family's table. */
function urlsOf(body: JsonObject & { model: string }): readonly (readonly [string, string])[] {
  const family = familyOf(body.model);
  if (!family) throw new RangeError(`no family serves ${body.model}`);
  return fileUrls(family.fields, family.read(body).parameters).map(({ param, url }) => [param, url]);
}

describe('The URLs of files in a submission', () => {
  it('are found in single fields, lists and lists of objects, with the name of their place', () => {
    expect(
      urlsOf({
        model: 'beta-2.7-r2v',
        prompt: 'x',
        image_with_roles: [{ url: 'http://a.example/1.png', reference_voice: 'http://a.example/2.wav' }],
        video_urls: ['http://a.example/3.mp4'],
      }),
    ).toEqual([
      ['image_with_roles[0].url', 'http://a.example/1.png'],
      ['image_with_roles[0].reference_voice', 'http://a.example/2.wav'],
      ['video_urls[0]', 'http://a.example/3.mp4'],
    ]);
    expect(urlsOf({ model: 'epsilon-2.3', prompt: 'x', first_frame_image: 'http://a.example/1.png' })).toEqual([
      ['first_frame_image', 'http://a.example/1.png'],
    ]);
  });

  it('include those that the model leaves unread, and no inline file', () => {
    const image_urls = ['data:image/png;base64,AAAA', 'https://a.example/unread.png'];
    expect(urlsOf({ model: 'iota-1.0-edit-reseller', prompt: 'x', image_urls })).toEqual([
      ['image_urls[1]', 'https://a.example/unread.png'],
    ]);
  });

  it('include every file that a worker would read', () => {
    for (const family of CATALOG) {
      const { parameters } = family.read(family.example);
      const found = fileUrls(family.fields, parameters);
      for (const { param, source } of family.references(parameters))
        expect(found).toContainEqual({ param, url: source });
    }
  });
});
