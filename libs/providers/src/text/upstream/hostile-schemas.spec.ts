import { GatewayError, type JsonObject } from '#contracts';
import { atBest } from '#testing';
import { selfContainedSchema } from '../gemini/self-contained-schema.js';
import { enforceableSchema } from '../messages/output-schema.js';
import { objectSchema, strictness } from './object-schema.js';

/** As many as a body may have keys, or nearly. */
const MANY = 9_000;
/** What one schema may take, in milliseconds of the processor. */
const ENOUGH_MS = 500;

const named = (count: number, schemaOf: (index: number) => JsonObject): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`d${index}`, schemaOf(index)]));

const WIDE: JsonObject = { properties: named(MANY, () => ({ type: 'string' })) };

/** One name in as many spellings as are asked for. */
const spelled = (index: number): string =>
  Array.from('abcdefghijklmn')
    .map((letter, bit) => ((index >> bit) & 1 ? `%${letter.charCodeAt(0).toString(16)}` : letter))
    .join('');

const references = (count: number, to: (index: number) => string): JsonObject[] =>
  Array.from({ length: count }, (_, index) => ({ $ref: `#/$defs/${to(index)}` }));

const SCHEMAS: Readonly<Record<string, JsonObject>> = {
  'a chain of references': {
    type: 'object',
    $defs: named(MANY, (index) => ({ $ref: `#/$defs/d${index + 1}` })),
    properties: { a: { $ref: '#/$defs/d0' } },
  },
  'many references to schemas of one name': {
    type: 'object',
    $defs: named(MANY / 2, () => ({ x: {} })),
    properties: named(MANY / 2, (index) => ({ $ref: `#/$defs/d${index}/x` })),
  },
  'one wide schema that is referred to in thousands of spellings': {
    type: 'object',
    $defs: { abcdefghijklmn: WIDE },
    properties: { a: { anyOf: references(MANY, spelled) } },
  },
  'an object that is all of one wide schema hundreds of times': {
    type: 'object',
    $defs: { wide: WIDE },
    allOf: references(900, () => 'wide'),
  },
  'an object that is one of one wide schema hundreds of times': {
    type: 'object',
    $defs: { wide: WIDE },
    anyOf: references(900, () => 'wide'),
  },
  'a wide object that is all of hundreds of others': {
    type: 'object',
    ...WIDE,
    allOf: Array.from({ length: 900 }, () => ({})),
  },
  'a wide object that requires its fields behind tens of thousands of others': {
    type: 'object',
    ...WIDE,
    // As it comes: names that were parsed as values are not the very same strings as keys.
    required: JSON.parse(
      JSON.stringify([
        ...Array.from({ length: 8 * MANY }, (_, index) => `e${index % MANY}`),
        ...Object.keys(named(MANY, () => ({}))),
      ]),
    ) as string[],
  },
  'thousands of objects with bounds in words': {
    type: 'object',
    properties: named(MANY, () => ({ type: 'object', properties: { a: { type: 'string', minLength: 3 } } })),
  },
};

const WRITERS: Readonly<Record<string, (schema: JsonObject) => unknown>> = {
  'as it stands for gemini': selfContainedSchema,
  'as it is enforced by messages': enforceableSchema,
  'as arguments': (parameters) => objectSchema({ name: 'f', parameters }),
  'as arguments that are held to it': (parameters) => strictness({ name: 'f', parameters, strict: true }),
};

describe.each(Object.entries(SCHEMAS))('A schema of a caller: %s', (_what, schema) => {
  it.each(Object.entries(WRITERS))('is written in a moment %s, or refused', async (_how, write) => {
    const refusals = new Set<unknown>();
    const busyMs = await atBest(ENOUGH_MS, () => {
      try {
        write(schema);
      } catch (error) {
        refusals.add(error instanceof GatewayError ? error.code : error);
      }
    });
    refusals.delete('unsupported_parameter');
    expect([...refusals]).toEqual([]);
    expect(busyMs).toBeLessThan(ENOUGH_MS);
  });
});
