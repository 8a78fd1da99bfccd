import type { JsonValue } from '../json.js';
import { CATALOG, familyOf, MODEL_IDS } from './catalog.js';
import { fieldTable } from './field-table.js';
import { kappa } from './image-families/kappa.js';
import type { ModelFamily } from './model-family.js';
import { alpha } from './video-families/alpha.js';
import { beta25Preview } from './video-families/beta-2.5-preview.js';
import { beta27R2v } from './video-families/beta-2.7-r2v.js';
import { zetaQ3 } from './video-families/zeta-q3.js';

const row = (family: ModelFamily, name: string, model = family.models[0]) =>
  fieldTable(family, model).find((candidate) => candidate.name === name);

const URL = 'https://media.example.com/file';

/** Whether the family takes a value in any of several bodies: with some, another rule forbids it. */
const takes = (family: ModelFamily, model: string, field: string, value: JsonValue) =>
  [
    {},
    { image_urls: [URL] },
    { first_frame_image: URL, last_frame_image: URL },
    { first_frame_image: URL },
    { image_with_roles: [{ url: URL }] },
  ].some((files) => {
    try {
      family.read({ model, prompt: 'A heron lands.', ...files, [field]: value });
      return true;
    } catch {
      return false;
    }
  });

describe('fieldTable', () => {
  it('describes each field as the document does', () => {
    expect(row(beta25Preview, 'duration')).toEqual({
      name: 'duration',
      type: 'integer',
      required: false,
      default: 5,
      allowed: '5 or 10',
      note: 'Seconds.',
      schema: { type: 'integer', enum: [5, 10] },
      unit: 'second',
      group: 'output',
      order: 6,
    });
    expect(row(beta25Preview, 'image_urls')).toMatchObject({
      type: 'array of strings',
      allowed: 'exactly 1 entry, each a public http(s) URL or a data URI that begins with data:image/png;base64,',
    });
    expect(row(beta25Preview, 'audio')).toMatchObject({ type: 'boolean', allowed: 'true', default: true });
    expect(row(kappa, 'n')).toMatchObject({ type: 'integer', allowed: '1 to 15', default: 1 });
    expect(row(kappa, 'prompt')).toMatchObject({ required: true, allowed: 'at most 1000 characters', default: null });
  });

  it.each(MODEL_IDS.map((id) => [id] as const))('offers for %s only what that model takes', (model) => {
    const family = familyOf(model);
    const refused = fieldTable(family!, model).flatMap(({ name, schema }) => {
      const offered = (schema['enum'] ?? [schema['minimum'], schema['maximum']]) as (JsonValue | undefined)[];
      const values = offered.filter((value) => value !== undefined && name !== 'model');
      return values.flatMap((value) =>
        name.includes('.') || takes(family!, model, name, value!) ? [] : [[name, value]],
      );
    });
    expect(refused).toEqual([]);
  });

  it.each(CATALOG.map((family: ModelFamily) => [family.id, family] as const))(
    'narrows fields of %s for its own models only',
    (_id, family) => {
      const narrowed = family.fields.flatMap((field) => ('only' in field ? Object.keys(field.only ?? {}) : []));
      expect(family.models).toEqual(expect.arrayContaining(narrowed));
    },
  );

  it('says what one model of a family takes, and what another does', () => {
    expect(row(alpha, 'resolution', 'alpha-2.0')).toMatchObject({ allowed: '480p or 720p' });
    expect(row(alpha, 'resolution', 'alpha-2.0-face')).toMatchObject({ allowed: '480p, 720p or 1080p' });
    expect(row(zetaQ3, 'duration', 'zeta-q3')).toMatchObject({ allowed: '3 to 16', schema: { minimum: 3 } });
    expect(row(zetaQ3, 'duration', 'zeta-q3-mix')).toMatchObject({ allowed: '1 to 16', schema: { minimum: 1 } });
    expect(row(zetaQ3, 'resolution', 'zeta-q3-mix')?.schema).toEqual({ type: 'string', enum: ['720p', '1080p'] });
  });

  it('lists the fields of nested objects under their path', () => {
    expect(fieldTable(beta27R2v).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['image_with_roles', 'image_with_roles[].url', 'image_with_roles[].reference_voice']),
    );
    expect(row(kappa, 'sequential_image_generation_options.max_images')).toMatchObject({ allowed: '1 to 15' });
  });

  it('offers each choice once, in its documented spelling, also within objects', () => {
    expect(row(beta25Preview, 'resolution')?.schema).toEqual({ type: 'string', enum: ['480p', '720p', '1080p'] });
    // Two models may differ in the letter case of their names alone.
    const rows = CATALOG.flatMap((family: ModelFamily) => fieldTable(family)).filter(({ name }) => name !== 'model');
    const choices = rows.map(({ schema }) => schema['enum']);
    for (const values of choices.filter((value) => Array.isArray(value))) {
      const spellings = values.map((value) => String(value).toLowerCase());
      expect(new Set(spellings).size).toBe(values.length);
    }
    expect(row(beta27R2v, 'image_with_roles')?.schema).toMatchObject({
      type: 'array',
      items: { properties: { role: { type: 'string' } } },
    });
    expect(JSON.stringify(rows)).not.toContain('"null"');
  });

  it('orders the fields for a form, and gives counts their unit', () => {
    const form = [...fieldTable(beta27R2v)].sort((one, other) => one.order - other.order);
    expect(form.map(({ order }) => order)).toEqual(form.map((_row, index) => index + 1));
    expect(form.slice(0, 2).map(({ name, group }) => [name, group])).toEqual([
      ['model', 'model'],
      ['prompt', 'prompt'],
    ]);
    const roles = form.findIndex(({ name }) => name === 'image_with_roles');
    expect(form[roles + 1]).toMatchObject({ name: 'image_with_roles[].url', group: 'inputs' });
    expect(form.at(-1)).toMatchObject({ group: 'more' });
    expect(row(kappa, 'n')).toMatchObject({ unit: 'image', group: 'output' });
    expect(row(kappa, 'prompt')).toMatchObject({ unit: null });
  });

  it.each(CATALOG.map((family: ModelFamily) => [family.id, family] as const))(
    'gives the unit of every number of %s whose note names one',
    (_id, family) => {
      const named = fieldTable(family).flatMap(({ note, unit }) => {
        const [, second, counted] = /^(?:(Second)s|Number of (image|video)s)\b/.exec(note) ?? [];
        const expected = second?.toLowerCase() ?? counted;
        return expected === undefined ? [] : [{ note, unit, expected }];
      });
      expect(named.filter(({ unit, expected }) => unit !== expected)).toEqual([]);
    },
  );

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
