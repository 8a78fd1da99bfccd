import { withSharedSchemas } from './shared-schemas.js';

const CITY = { type: 'object', properties: { name: { type: 'string' } } };

describe('Shared parts of a schema, to a content-generation upstream', () => {
  it('stand where the interface looks for them, and so do the references to them', () => {
    const schema = {
      type: 'object',
      properties: {
        from: { $ref: '#/definitions/City' },
        to: { type: 'array', items: { $ref: '#/definitions/City' } },
      },
      definitions: { City: { ...CITY, properties: { next: { $ref: '#/definitions/City' } } } },
    };
    expect(withSharedSchemas(schema)).toEqual({
      type: 'object',
      properties: { from: { $ref: '#/$defs/City' }, to: { type: 'array', items: { $ref: '#/$defs/City' } } },
      $defs: { City: { ...CITY, properties: { next: { $ref: '#/$defs/City' } } } },
    });
  });

  it('stand beside those that were there already', () => {
    const both = withSharedSchemas({ definitions: { City: CITY }, $defs: { Zip: { type: 'integer' } } });
    expect(both).toEqual({ $defs: { City: CITY, Zip: { type: 'integer' } } });
  });

  it.each([
    [{ type: 'object', properties: { definitions: { type: 'string' } } }],
    [{ $defs: { City: CITY }, $ref: '#/$defs/City' }],
  ])('are left alone where the interface knows them: %j', (schema) => {
    expect(withSharedSchemas(schema)).toBe(schema);
  });
});
