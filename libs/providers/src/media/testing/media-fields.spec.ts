import { readFileSync } from 'node:fs';
import type { MediaCodec } from '../http/media-codec.js';
import { MEDIA_CODECS } from '../media-protocols.js';
import { unnoticedLikes } from './field-effects.js';
import { mediaFieldsPage } from './media-fields-page.js';

describe('docs/media-fields.md', () => {
  const page = mediaFieldsPage();

  it('says of every model, field and protocol what is true now (npm run media-fields writes it)', () => {
    expect(readFileSync('docs/media-fields.md', 'utf8')).toBe(page);
  });

  it('tells the caller where two values of a field are one to a vendor', () => {
    const alike = (Object.values(MEDIA_CODECS) as readonly MediaCodec[]).flatMap((codec) =>
      [...codec.models.keys()].flatMap((model) => unnoticedLikes(codec, model)),
    );
    expect(alike).toEqual([]);
  });

  it('has no field that is lost on its way', () => {
    expect(page).not.toContain('**lost**');
  });
});
