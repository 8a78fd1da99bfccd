import type { JsonObject } from '#contracts';
import { SchemaWork } from '../upstream/object-schema.js';
import { selfContainedSchema } from './self-contained-schema.js';

const NAME: JsonObject = { type: 'string' };
const CITY: JsonObject = { type: 'object', properties: { name: NAME } };
const tree = (ref: string): JsonObject => ({
  type: 'object',
  properties: { children: { type: 'array', items: { $ref: ref } } },
});

describe('A schema for a content-generation upstream', () => {
  it.each<[string, JsonObject, JsonObject]>([
    [
      'shared, by either name and in any place',
      {
        type: 'object',
        properties: { from: { $ref: '#/$defs/City' }, to: { type: 'array', items: { $ref: '#/definitions/Town' } } },
        $defs: { City: CITY },
        definitions: { Town: { allOf: [{ $ref: '#/$defs/City' }] } },
      },
      { type: 'object', properties: { from: CITY, to: { type: 'array', items: CITY } } },
    ],
    [
      'a field of the same schema',
      { type: 'object', properties: { a: CITY, b: { $ref: '#/properties/a' } } },
      { type: 'object', properties: { a: CITY, b: CITY } },
    ],
    [
      'described where it is used',
      { type: 'object', properties: { to: { $ref: '#/$defs/City', description: 'Where to.' } }, $defs: { City: CITY } },
      { type: 'object', properties: { to: { ...CITY, description: 'Where to.' } } },
    ],
  ])('holds what is %s', (_, schema, written) => {
    expect(selfContainedSchema(schema, new SchemaWork())).toEqual(written);
  });

  it.each<[string, JsonObject, JsonObject]>([
    [
      'in a circle',
      {
        type: 'object',
        properties: { top: { $ref: '#/definitions/Node' } },
        definitions: { Node: tree('#/definitions/Node') },
      },
      { type: 'object', properties: { top: { $ref: '#/$defs/Node' } }, $defs: { Node: tree('#/$defs/Node') } },
    ],
    ['as a whole', tree('#'), { ...tree('#/$defs/_'), $defs: { _: tree('#/$defs/_') } }],
    [
      'with words of its own',
      {
        type: 'object',
        properties: { top: { $ref: '#/$defs/Node', description: 'The top.' } },
        $defs: { Node: tree('#/$defs/Node') },
      },
      {
        type: 'object',
        properties: { top: { anyOf: [{ $ref: '#/$defs/Node' }], description: 'The top.' } },
        $defs: { Node: tree('#/$defs/Node') },
      },
    ],
  ])('refers to what holds itself %s', (_, schema, written) => {
    expect(selfContainedSchema(schema, new SchemaWork())).toEqual(written);
  });

  it('says constants as lists of one, which the vendor keeps to', () => {
    const variants = { anyOf: [{ const: 'a' }, { type: 'integer', const: 1 }] };
    expect(selfContainedSchema(variants, new SchemaWork())).toEqual({
      anyOf: [{ enum: ['a'] }, { type: 'integer', enum: [1] }],
    });
  });

  it.each<[string, JsonObject, JsonObject]>([
    [
      'a pattern',
      { type: 'string', pattern: '^a$', minLength: 1 },
      { type: 'string', pattern: '^a$', minLength: 1, description: 'pattern: "^a$", minLength: 1' },
    ],
    [
      'what is not meant, with what it refers to',
      {
        type: 'object',
        properties: { to: { description: 'Where to.', not: { $ref: '#/$defs/City' } } },
        $defs: { City: { enum: ['Rome'] } },
      },
      {
        type: 'object',
        properties: {
          to: { description: 'Where to. (not: {"enum":["Rome"]})', not: { enum: ['Rome'] } },
        },
      },
    ],
    [
      'fields of any name',
      { type: 'object', patternProperties: { '^x': NAME } },
      {
        type: 'object',
        patternProperties: { '^x': NAME },
        description: 'patternProperties: {"^x":{"type":"string"}}',
      },
    ],
    ['a value that is no word', { const: true }, { const: true, description: 'const: true' }],
    [
      'several at once',
      { allOf: [NAME, { minLength: 2 }] },
      { allOf: [NAME, { minLength: 2 }], description: 'allOf: [{"type":"string"},{"minLength":2}]' },
    ],
  ])('says in words, beside the words themselves, what the vendor does not keep to: %s', (_, schema, written) => {
    expect(selfContainedSchema(schema, new SchemaWork())).toEqual(written);
  });

  it('is the very same schema where the vendor knows every word', () => {
    const plain: JsonObject = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      title: 'x',
      properties: { a: { type: 'array', items: NAME, minItems: 1, maxItems: 2, default: [] }, b: { minimum: 1 } },
      required: ['a'],
      additionalProperties: false,
      propertyOrdering: ['a', 'b'],
    };
    expect(selfContainedSchema(plain, new SchemaWork())).toBe(plain);
  });

  it.each<[JsonObject]>([
    [{ type: 'object', properties: { $ref: NAME, definitions: NAME, const: NAME } }],
    [{ enum: [{ $ref: '#/$defs/City' }], default: { const: 'a' } }],
    [{ type: 'object', properties: { a: { $ref: '#/$defs/nobody' }, b: { $ref: 'https://a.example/schema.json' } } }],
  ])('leaves alone what only looks like a reference, or leads nowhere: %j', (schema) => {
    expect(selfContainedSchema(schema, new SchemaWork())).toEqual(schema);
  });

  it('does not grow without end where schemas hold each other twice', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, place) => [
        `d${place}`,
        { anyOf: [{ $ref: `#/$defs/d${place + 1}` }, { $ref: `#/$defs/d${place + 1}` }] },
      ]),
    );
    const schema = { anyOf: [{ $ref: '#/$defs/d0' }], $defs: { ...$defs, d40: NAME } };
    const written = selfContainedSchema(schema, new SchemaWork());
    expect(JSON.stringify(written).length).toBeLessThan(10_000);
  });
});
