import type { JsonObject } from '../json.js';
import { CATALOG, familyOf } from './catalog.js';
import { fileUrls } from './file-urls.js';

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
