import type { JsonObject } from '#contracts';
import { enforceableSchema } from './output-schema.js';

const CITY: JsonObject = { type: 'object', properties: { city: { type: 'string' } } };
const CLOSED: JsonObject = { ...CITY, additionalProperties: false };
const TREE: JsonObject = {
  type: 'object',
  properties: { top: { $ref: '#/$defs/node' } },
  $defs: { node: { type: 'object', properties: { next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } } } },
};
const field = (schema: JsonObject): JsonObject => ({ type: 'object', properties: { a: schema } });

describe('A schema of the answer, as a messages vendor enforces it', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['closes every object', CITY, CLOSED],
    ['closes one that says it is open', { ...CITY, additionalProperties: true }, CLOSED],
    ['closes those inside', { type: 'array', items: CITY }, { type: 'array', items: CLOSED }],
    ['closes those of a choice', { anyOf: [CITY, { type: 'null' }] }, { anyOf: [CLOSED, { type: 'null' }] }],
    ['says one choice as the other', { oneOf: [{ type: 'string' }] }, { anyOf: [{ type: 'string' }] }],
    [
      'describes bounds',
      { type: 'integer', description: 'How many.', minimum: 1, maximum: 5 },
      { type: 'integer', description: 'How many. (minimum: 1, maximum: 5)' },
    ],
    [
      'describes a list of at least two',
      { type: 'array', items: { type: 'string' }, minItems: 2 },
      { type: 'array', items: { type: 'string' }, description: 'minItems: 2' },
    ],
    [
      'keeps a list of at least one',
      { type: 'array', items: CLOSED, minItems: 1 },
      { type: 'array', items: CLOSED, minItems: 1 },
    ],
    ['keeps formats it knows', { type: 'string', format: 'date' }, { type: 'string', format: 'date' }],
    ['describes others', { type: 'string', format: 'isbn' }, { type: 'string', description: 'format: "isbn"' }],
    [
      'takes a field for no bound of its name',
      field({ type: 'string', minLength: 1 }),
      { ...field({ type: 'string', description: 'minLength: 1' }), additionalProperties: false },
    ],
    [
      'follows references',
      { $ref: '#/$defs/city', $defs: { city: CITY } },
      { $ref: '#/$defs/city', $defs: { city: CLOSED } },
    ],
    ['keeps words and constants', { enum: ['a', null], const: 'a' }, { enum: ['a', null], const: 'a' }],
  ])('%s', (_, schema, enforced) => {
    expect(enforceableSchema(schema)).toEqual(enforced);
  });

  it.each<[string, JsonObject]>([
    ['any value', {}],
    ['any value inside', field({})],
    ['any value in a list', { type: 'array', items: true }],
    ['an object of any keys', { type: 'object' }],
    ['an object of keys of one kind', { type: 'object', additionalProperties: { type: 'string' } }],
    ['a tree', TREE],
    ['itself', { type: 'object', properties: { next: { $ref: '#' } } }],
    ['a schema that lies elsewhere', { $ref: 'https://a.example/schema.json' }],
    ['a schema that is not there', { $ref: '#/$defs/toString' }],
    ['all of several', { allOf: [CITY, CITY] }],
    ['what is not', { type: 'string', not: { const: 'a' } }],
  ])('is none for %s', (_, schema) => {
    expect(enforceableSchema(schema)).toBeUndefined();
  });

  it('is found in no time where many references lead to each other', () => {
    const names = Array.from({ length: 200 }, (_, place) => `d${place}`);
    const both = (next: string): JsonObject => ({ anyOf: [{ $ref: next }, { $ref: next }] });
    const $defs = Object.fromEntries(
      names.map((name, place) => [name, place === 199 ? { type: 'string' } : both(`#/$defs/d${place + 1}`)]),
    );
    expect(enforceableSchema({ $ref: '#/$defs/d0', $defs })).toBeDefined();
  });
});
