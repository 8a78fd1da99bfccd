import type { JsonObject } from '#contracts';
import { atBest } from '#testing';
import { Ajv } from 'ajv';
import { SchemaWork } from '../upstream/object-schema.js';
import { SchemaExample } from './schema-example.js';

const example = (schema: JsonObject): unknown => new SchemaExample(schema, 'Paris', new SchemaWork()).value();

/** Every rule of JSON Schema that callers write into tools and formats. */
const SCHEMAS: readonly (readonly [string, JsonObject])[] = [
  ['no rule at all', {}],
  ['a free string', { type: 'string' }],
  ['a short string', { type: 'string', maxLength: 2 }],
  ['a long string', { type: 'string', minLength: 40 }],
  ['one of several values', { enum: ['a', 'b'] }],
  ['one value', { const: 7 }],
  ['a default', { type: 'integer', default: 3 }],
  ['several types', { type: ['integer', 'null'] }],
  ['a number between bounds', { type: 'number', minimum: 0.5, maximum: 0.75 }],
  ['a number within open bounds', { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }],
  ['a whole number below zero', { type: 'integer', exclusiveMaximum: 0 }],
  ['a whole number within open bounds', { type: 'integer', exclusiveMinimum: 4, exclusiveMaximum: 6 }],
  ['a multiple', { type: 'integer', minimum: 12, multipleOf: 5 }],
  ['an array of a length', { type: 'array', items: { type: 'string' }, minItems: 3 }],
  ['an array that must be empty', { type: 'array', items: { type: 'string' }, maxItems: 0 }],
  ['an array of anything', { type: 'array' }],
  ['an object without properties', { type: 'object' }],
  [
    'an object that allows nothing else',
    { type: 'object', properties: { a: { type: 'boolean' } }, required: ['a'], additionalProperties: false },
  ],
  ['a property that is required and not described', { type: 'object', required: ['a'] }],
  ['an object without a type', { properties: { a: { type: 'null' } }, required: ['a'] }],
  ['alternatives', { anyOf: [{ type: 'string' }, { type: 'null' }] }],
  [
    'all of several',
    {
      allOf: [
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { properties: { b: { type: 'integer' } }, required: ['b'] },
      ],
    },
  ],
  [
    'alternatives beside rules of their own',
    {
      type: 'object',
      properties: { kind: { const: 'x' } },
      required: ['kind'],
      anyOf: [{ properties: { a: { type: 'integer' } }, required: ['a'] }],
    },
  ],
  [
    'a reference',
    {
      $defs: { 'a/b': { type: 'integer' } },
      type: 'object',
      properties: { x: { $ref: '#/$defs/a~1b' } },
      required: ['x'],
    },
  ],
  [
    'a schema that refers to itself',
    {
      type: 'object',
      properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
      required: ['name'],
    },
  ],
];

describe('An example of a schema', () => {
  const ajv = new Ajv({ strict: false });

  it.each(SCHEMAS)('fits %s', (_what, schema) => {
    const value = example(schema);
    expect([ajv.validate(schema, value), ajv.errorsText()]).toEqual([true, 'No errors']);
  });

  const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];

  it.each<[string, JsonObject]>([
    ['demands itself many times over', { required: NAMES }],
    ['refers to itself many times over', { allOf: NAMES.map(() => ({ $ref: '#' })) }],
  ])('is built quickly, although the schema %s', async (_what, rules) => {
    const properties = Object.fromEntries(NAMES.map((name) => [name, { $ref: '#' }]));
    expect(await atBest(3_000, () => example({ type: 'object', properties, ...rules }))).toBeLessThan(3_000);
  });

  it('uses the given word where a string is free, and a value of the format where one is named', () => {
    expect(example({ type: 'string' })).toBe('Paris');
    expect(example({ type: 'string', format: 'date' })).toBe('2026-01-01');
  });

  it('fills every property, required or not', () => {
    const properties = { a: { type: 'string' }, b: { type: 'boolean' } };
    expect(example({ type: 'object', properties })).toEqual({ a: 'Paris', b: true });
  });
});
