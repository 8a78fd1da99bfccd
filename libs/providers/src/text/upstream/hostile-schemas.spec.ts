import { GatewayError, type JsonObject, type TextRequest } from '#contracts';
import { atBest } from '#testing';
import { selfContainedSchema } from '../gemini/self-contained-schema.js';
import { PROTOCOL_CODECS } from '../open-text-upstreams.js';
import { writeScript } from '../sandbox/sandbox-script.js';
import { PLAIN } from '../testing/text-requests.js';
import { enforceableSchema } from '../messages/output-schema.js';
import { objectSchema, SchemaWork, strictness } from './object-schema.js';

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
  'as it stands for gemini': (schema) => selfContainedSchema(schema, new SchemaWork()),
  'as it is enforced by messages': enforceableSchema,
  'as arguments': (parameters) => objectSchema({ name: 'f', parameters }, new SchemaWork()),
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

/** Requests whose schemas say far more than they hold, each below the bounds of what a request may hold. */
const REQUESTS: Readonly<Record<string, readonly JsonObject[]>> = {
  'hundreds of tools, each all of one object many times': Array.from({ length: 250 }, () => ({
    type: 'object',
    $defs: { w: { properties: named(40, () => ({ type: 'string' })) } },
    allOf: references(300, () => 'w'),
  })),
  'hundreds of tools, each one of an object many times': Array.from({ length: 250 }, () => ({
    type: 'object',
    $defs: { w: { properties: named(40, () => ({ type: 'string' })) } },
    anyOf: references(300, () => 'w'),
  })),
  'tools that refer to a long text again and again': Array.from({ length: 30 }, () => ({
    type: 'object',
    $defs: { w: { type: 'string', description: 'x'.repeat(100_000) } },
    properties: named(300, () => ({ $ref: '#/$defs/w' })),
  })),
  'a wide schema whose parts are referred to in many spellings': [
    {
      type: 'object',
      $defs: { abcdefghijklmn: { type: 'object', ...WIDE } },
      properties: { a: { anyOf: references(199, spelled) } },
    },
  ],
  'schemas that all refer to each other': [
    {
      type: 'object',
      $defs: named(150, () => ({ anyOf: references(150, (index) => `d${index}`) })),
      properties: named(150, (index) => ({ $ref: `#/$defs/d${index}` })),
    },
  ],
  'lists of lists of long texts': [
    {
      type: 'object',
      properties: {
        a: {
          type: 'array',
          minItems: 100,
          items: { type: 'array', minItems: 100, items: { default: 'x'.repeat(100_000) } },
        },
        b: {
          type: 'array',
          minItems: 100,
          items: { type: 'array', minItems: 90, items: { minLength: 9_999, type: 'string' } },
        },
      },
    },
  ],
};

const CODECS = Object.keys(PROTOCOL_CODECS) as (keyof typeof PROTOCOL_CODECS)[];

/** What the schemas of a request may become, beyond some copies of them. */
const CHARACTERS_MORE = 4_000_000;
const REQUEST_MS = 250;

describe.each(Object.entries(REQUESTS))('A request with %s', (_what, schemas) => {
  const asTools: TextRequest = {
    ...PLAIN,
    tools: schemas.map((parameters, place) => ({ name: `f${place}`, parameters })),
  };
  const asAnswer: TextRequest = {
    ...PLAIN,
    format: { type: 'json-schema', name: 'f', schema: schemas[0] ?? {} },
  };
  const written = async (write: () => unknown): Promise<{ busyMs: number; characters: number }> => {
    let characters = 0;
    const busyMs = await atBest(REQUEST_MS, async () => {
      try {
        characters = JSON.stringify(await write()).length;
      } catch (error) {
        expect(error).toMatchObject({ code: 'unsupported_parameter', param: 'tools' });
      }
    });
    return { busyMs, characters };
  };
  const most = 3 * JSON.stringify(schemas).length + CHARACTERS_MORE;

  it.each(CODECS)('stays of its size over %s and takes a moment, or is refused', async (protocol) => {
    for (const request of [asTools, asAnswer]) {
      const { busyMs, characters } = await written(() => PROTOCOL_CODECS[protocol].write(request, 'm', {}));
      expect(characters).toBeLessThan(most);
      expect(busyMs).toBeLessThan(REQUEST_MS);
    }
  });

  it('gets no long answer from the sandbox', async () => {
    const prompt = asTools.tools.map(({ name }) => name).join(' ');
    const turns: TextRequest['turns'] = [{ role: 'user', parts: [{ type: 'text', text: prompt }] }];
    for (const request of [{ ...asTools, turns }, asAnswer]) {
      const { busyMs, characters } = await written(() => writeScript(request));
      expect(characters).toBeLessThan(most);
      expect(busyMs).toBeLessThan(REQUEST_MS);
    }
  });
});
