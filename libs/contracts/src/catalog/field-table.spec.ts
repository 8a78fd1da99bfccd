import { CATALOG } from './catalog.js';
import { fieldTable } from './field-table.js';
import { kappa } from './image-families/kappa.js';
import type { ModelFamily } from './model-family.js';
import { beta25Preview } from './video-families/beta-2.5-preview.js';
import { beta27R2v } from './video-families/beta-2.7-r2v.js';

const row = (family: ModelFamily, name: string) => fieldTable(family).find((candidate) => candidate.name === name);

describe('fieldTable', () => {
  it('says of each field what the document says', () => {
    expect(row(beta25Preview, 'duration')).toEqual({
      name: 'duration',
      type: 'integer',
      required: false,
      default: 5,
      allowed: '5 or 10',
      note: 'Seconds.',
    });
    expect(row(beta25Preview, 'image_urls')).toMatchObject({
      type: 'array of strings',
      allowed: 'exactly 1 entry, each a public http(s) URL or a data URI that begins with data:image/png;base64,',
    });
    expect(row(beta25Preview, 'audio')).toMatchObject({ type: 'boolean', allowed: 'true', default: true });
    expect(row(kappa, 'n')).toMatchObject({ type: 'integer', allowed: '1 to 15', default: 1 });
    expect(row(kappa, 'prompt')).toMatchObject({ required: true, allowed: 'at most 1000 characters', default: null });
  });

  it('lists the fields of nested objects under their path', () => {
    expect(fieldTable(beta27R2v).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['image_with_roles', 'image_with_roles[].url', 'image_with_roles[].reference_voice']),
    );
    expect(row(kappa, 'sequential_image_generation_options.max_images')).toMatchObject({ allowed: '1 to 15' });
  });

  it.each(CATALOG.map((family: ModelFamily) => [family.id, family] as const))(
    'shows every field of %s with something allowed',
    (_id, family) => {
      const rows = fieldTable(family);
      expect(rows.filter(({ name }) => !/[.[]/.test(name)).map(({ name }) => name)).toEqual(
        family.fields.map(({ name }) => name),
      );
      expect(rows.every(({ allowed, type }) => allowed !== '' && type !== '')).toBe(true);
    },
  );
});
