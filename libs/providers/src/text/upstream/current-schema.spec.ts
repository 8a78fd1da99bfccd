import type { JsonObject } from '#contracts';
import { currentSchema } from './object-schema.js';

const TEXT: JsonObject = { type: 'string' };
const NUMBER: JsonObject = { type: 'number' };
const inside = (schema: JsonObject): JsonObject => ({ type: 'object', properties: { a: { anyOf: [schema, TEXT] } } });

const CASES: readonly (readonly [string, JsonObject, JsonObject])[] = [
  [
    'schemas by place',
    { type: 'array', items: [TEXT, NUMBER], additionalItems: false },
    { type: 'array', prefixItems: [TEXT, NUMBER], items: false },
  ],
  [
    'schemas by place, with anything behind them',
    { type: 'array', items: [TEXT] },
    { type: 'array', prefixItems: [TEXT], items: {} },
  ],
  ['a bound that is no value', { ...NUMBER, minimum: 0, exclusiveMinimum: true }, { ...NUMBER, exclusiveMinimum: 0 }],
  ['a bound that is one', { ...NUMBER, maximum: 9, exclusiveMaximum: false }, { ...NUMBER, maximum: 9 }],
  ['no bound', { ...NUMBER, exclusiveMaximum: true }, NUMBER],
  ['a list of anything', { type: ['array', 'null'] }, { type: ['array', 'null'], items: {} }],
];

describe('A schema in the words of earlier drafts', () => {
  it.each(CASES)('says %s as the current one does, however deep', (_, earlier, current) => {
    expect(currentSchema(earlier)).toEqual(current);
    expect(currentSchema(inside(earlier))).toEqual(inside(current));
  });

  it('does not say which of them it is written in', () => {
    expect(currentSchema({ $schema: 'http://json-schema.org/draft-07/schema#', ...TEXT })).toEqual(TEXT);
  });

  it.each<[string, JsonObject]>([
    ['values', { enum: [{ items: [1] }], default: { type: 'array' }, const: { exclusiveMinimum: true } }],
    ['names of fields', { type: 'object', properties: { items: TEXT, exclusiveMinimum: TEXT } }],
    ['its own draft', { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'array', items: TEXT }],
  ])('leaves %s alone', (_, schema) => {
    expect(currentSchema(schema)).toEqual(schema);
  });
});
