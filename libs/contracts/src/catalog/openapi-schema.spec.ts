import { Ajv2020 } from 'ajv/dist/2020.js';
import { CATALOG, familyOf } from './catalog.js';
import type { JsonObject } from '../json.js';
import type { ModelFamily } from './model-family.js';
import { componentSchemas, familySchema, submissionSchema } from './openapi-schema.js';

const schemas = new Ajv2020({ strict: true, allowUnionTypes: true, keywords: ['discriminator', 'components'] });
const schemaOf = (model: string) => {
  const family = familyOf(model);
  if (!family) throw new Error(`no family has ${model}`);
  return familySchema(family);
};
const isValid = (model: string, body: JsonObject) => schemas.validate(schemaOf(model), body);

describe('the published schemas', () => {
  it('describe a field with its values, default, limits and note', () => {
    expect(schemaOf('eta-image-2.0')).toMatchObject({
      type: 'object',
      additionalProperties: false,
      required: ['model', 'prompt'],
      properties: {
        model: { type: 'string', enum: ['eta-image-2.0', 'eta-image-2.0-pro'] },
        prompt: { type: 'string', maxLength: 800, minLength: 1 },
        n: { type: ['integer', 'null'], minimum: 1, maximum: 6, default: 1, description: 'Number of images.' },
        resolution: { type: ['string', 'null'], enum: ['1k', '1K', '2k', '2K', null], default: '1K' },
      },
    });
  });

  it('describe in words the rules over several fields', () => {
    expect(schemaOf('delta-v2-6')['description']).toContain('audio true needs mode pro');
  });

  it('describe listed objects by their own fields', () => {
    expect(schemaOf('beta-2.7-r2v')).toMatchObject({
      properties: {
        image_with_roles: {
          minItems: 1,
          maxItems: 5,
          items: {
            type: 'object',
            required: ['url'],
            additionalProperties: false,
            properties: { role: { default: 'reference_image' } },
          },
        },
      },
    });
  });

  it('allow data URIs only where the documents do', () => {
    const png = 'data:image/png;base64,iVBORw0KGgo=';
    const webp = 'data:image/webp;base64,UklGRg==';
    const prompt = 'x';
    expect(isValid('kappa-a-4-0', { model: 'kappa-a-4-0', prompt, image_urls: [png] })).toBe(true);
    expect(isValid('kappa-a-4-0', { model: 'kappa-a-4-0', prompt, image_urls: [webp] })).toBe(false);
    expect(isValid('eta-image-2.0', { model: 'eta-image-2.0', prompt, image_urls: [png] })).toBe(false);
  });

  it('are distinguished by model, every model mapped to a component that exists', () => {
    const components = componentSchemas();
    for (const path of ['/v1/videos/generations', '/v1/images/generations'] as const) {
      const { oneOf, discriminator } = submissionSchema(path) as {
        oneOf: { $ref: string }[];
        discriminator: { propertyName: string; mapping: Record<string, string> };
      };
      const families = CATALOG.filter((family: ModelFamily) => family.path === path);
      expect(discriminator.propertyName).toBe('model');
      expect(Object.keys(discriminator.mapping)).toEqual(families.flatMap<string>(({ models }) => [...models]));
      for (const reference of Object.values(discriminator.mapping)) {
        expect(oneOf).toContainEqual({ $ref: reference });
        expect(components).toHaveProperty(reference.split('/').at(-1) ?? '');
      }
    }
    expect(submissionSchema('/v1/images/edits')).toEqual({ $ref: '#/components/schemas/IotaEditRequest' });
  });

  it.each(CATALOG.map((family: ModelFamily) => [family.id, family] as const))(
    'show an example of %s that is valid, and refuse it with an unknown field',
    (_id, family) => {
      const check = schemas.compile(familySchema(family));
      expect([check(family.example), check.errors]).toEqual([true, null]);
      expect(check({ ...family.example, unknown: 1 })).toBe(false);
    },
  );
});
