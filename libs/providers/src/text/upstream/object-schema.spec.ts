import { isJsonObject, type JsonObject } from '#contracts';
import { PLAIN } from '../testing/text-requests.js';
import { objectSchema, SchemaWork } from './object-schema.js';
import { PROTOCOL_CODECS } from '../open-text-upstreams.js';

const PROTOCOLS = Object.keys(PROTOCOL_CODECS) as (keyof typeof PROTOCOL_CODECS)[];
const TEXT: JsonObject = { type: 'string' };
const NUMBER: JsonObject = { type: 'number' };
const CITY: JsonObject = { type: 'object', properties: { city: TEXT }, required: ['city'] };
const PLACE: JsonObject = { type: 'object', properties: { city: TEXT, zip: NUMBER }, required: ['city', 'zip'] };
const words = (word: string, value: unknown): JsonObject => ({ description: `${word}: ${JSON.stringify(value)}` });

const CASES: readonly (readonly [string, JsonObject, JsonObject])[] = [
  ['says that it is of an object', { properties: { city: TEXT } }, { type: 'object', properties: { city: TEXT } }],
  ['names its fields, if none', { type: 'object' }, { type: 'object', properties: {} }],
  ['is of an object that may be null', { ...CITY, type: ['object', 'null'] }, CITY],
  [
    'has the fields of every variant, and needs what all of them need',
    { anyOf: [CITY, PLACE] },
    {
      type: 'object',
      properties: { city: TEXT, zip: NUMBER },
      required: ['city'],
      ...words('anyOf', [CITY, PLACE]),
    },
  ],
  [
    'has each value of the field that tells variants apart',
    {
      oneOf: ['a', 'b'].map((kind) => ({
        type: 'object',
        properties: { kind: { type: 'string', const: kind } },
        required: ['kind'],
        additionalProperties: false,
      })),
    },
    {
      type: 'object',
      properties: { kind: { type: 'string', enum: ['a', 'b'] } },
      required: ['kind'],
      additionalProperties: false,
      description: expect.stringMatching(/^oneOf: \[.*"const":"a".*"const":"b"/),
    },
  ],
  [
    'has a choice for a field that variants take differently',
    {
      anyOf: [
        { type: 'object', properties: { id: TEXT } },
        { type: 'object', properties: { id: NUMBER } },
      ],
    },
    { type: 'object', properties: { id: { anyOf: [TEXT, NUMBER] } }, description: expect.any(String) },
  ],
  [
    'says which fields go together, behind what it says already',
    { ...PLACE, required: [], description: 'A place.', anyOf: [{ required: ['city'] }, { required: ['zip'] }] },
    {
      type: 'object',
      properties: { city: TEXT, zip: NUMBER },
      description: 'A place. (anyOf: [{"required":["city"]},{"required":["zip"]}])',
    },
  ],
  [
    'has the fields of all its parts, without words',
    { allOf: [CITY, { properties: { zip: NUMBER }, required: ['zip'] }], title: 'Place' },
    { ...PLACE, title: 'Place' },
  ],
  [
    'hears the closer one of two parts, and says the rest',
    { allOf: [{ properties: { id: { ...TEXT, description: 'Who.' } } }, { properties: { id: { enum: ['a'] } } }] },
    {
      type: 'object',
      properties: { id: { type: 'string', description: 'Who.', enum: ['a'] } },
      description: expect.stringMatching(/^allOf: /),
    },
  ],
  [
    'is what it refers to',
    { $ref: '#/definitions/place', definitions: { place: { ...PLACE, description: 'A place.' } } },
    { ...PLACE, description: 'A place.', definitions: { place: { ...PLACE, description: 'A place.' } } },
  ],
  [
    'is what its variants refer to',
    { anyOf: [{ $ref: '#/$defs/city' }, { type: 'null' }], $defs: { city: CITY } },
    { ...CITY, $defs: { city: CITY }, ...words('anyOf', [{ $ref: '#/$defs/city' }, { type: 'null' }]) },
  ],
  [
    'keeps what leads into its parts',
    { allOf: [{ properties: { a: TEXT, b: { $ref: '#/allOf/0/properties/a' } } }] },
    {
      type: 'object',
      properties: { a: TEXT, b: { $ref: '#/$defs/arguments/allOf/0/properties/a' } },
      $defs: {
        arguments: { allOf: [{ properties: { a: TEXT, b: { $ref: '#/$defs/arguments/allOf/0/properties/a' } } }] },
      },
    },
  ],
  [
    'says in words what it may not be',
    { ...CITY, not: { required: ['zip'] } },
    { ...CITY, ...words('not', { required: ['zip'] }) },
  ],
  [
    'lets fields hold choices of their own',
    { ...CITY, properties: { a: { anyOf: [TEXT, NUMBER] } } },
    {
      ...CITY,
      properties: { a: { anyOf: [TEXT, NUMBER] } },
    },
  ],
];

describe('The schema of the arguments of a function', () => {
  it.each(CASES)('%s', (_, parameters, written) => {
    expect(objectSchema({ name: 'f', parameters }, new SchemaWork())).toEqual(written);
  });

  it.each<[string, JsonObject]>([
    ['is no object', TEXT],
    ['is an object in no variant', { anyOf: [TEXT, { type: 'null' }] }],
    ['refers to nothing', { $ref: '#/$defs/nobody' }],
    ['lies elsewhere', { $ref: 'https://a.example/schema.json' }],
    ['refers to itself', { $ref: '#' }],
    ['refers to itself in a circle', { $ref: '#/$defs/a', $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } } }],
  ])('that %s is refused by name', (_, parameters) => {
    for (const protocol of PROTOCOLS)
      expect(() => PROTOCOL_CODECS[protocol].write({ ...PLAIN, tools: [{ name: 'f', parameters }] }, 'm', {})).toThrow(
        expect.objectContaining({ code: 'unsupported_parameter', param: 'tools' }),
      );
  });

  it('takes no time that grows without end with schemas that hold each other twice', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, place) => [
        `d${place}`,
        { anyOf: [{ $ref: `#/$defs/d${place + 1}` }, { $ref: `#/$defs/d${place + 1}` }] },
      ]),
    );
    expect(() => objectSchema({ name: 'f', parameters: { $ref: '#/$defs/d0', $defs } }, new SchemaWork())).toThrow();
  });

  describe.each(PROTOCOLS)('over %s', (protocol) => {
    it.each(CASES)('%s', (_, parameters) => {
      const body = PROTOCOL_CODECS[protocol].write({ ...PLAIN, tools: [{ name: 'f', parameters }] }, 'm', {});
      expect(rootsIn(body)).toEqual([{ type: 'object', properties: expect.any(Object), refused: [] }]);
    });
  });
});

const NAMES = new Set(['parameters', 'input_schema', 'parametersJsonSchema']);
const REFUSED = new Set(['$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not']);

/** What each schema of arguments in a body says at its root. */
function rootsIn(value: unknown): object[] {
  if (Array.isArray(value)) return value.flatMap(rootsIn);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, entry]) =>
    NAMES.has(name) && isJsonObject(entry)
      ? [
          {
            type: entry['type'],
            properties: entry['properties'],
            refused: Object.keys(entry).filter((word) => REFUSED.has(word)),
          },
        ]
      : rootsIn(entry),
  );
}

describe('A function whose calls are held to its schema', () => {
  const closed: JsonObject = { ...PLACE, additionalProperties: false };
  const strictIn = (protocol: 'chat' | 'responses', parameters: JsonObject): boolean =>
    JSON.stringify(
      PROTOCOL_CODECS[protocol].write({ ...PLAIN, tools: [{ name: 'f', parameters, strict: true }] }, 'm', {}),
    ).includes('"strict":true');

  it.each(['chat', 'responses'] as const)('is one over %s only where every field is always there', (protocol) => {
    expect(strictIn(protocol, closed)).toBe(true);
    expect(strictIn(protocol, { ...closed, required: ['city'] })).toBe(false);
    const nested = { type: 'array', items: { ...closed, required: [] } };
    expect(strictIn(protocol, { ...CITY, properties: { city: nested }, additionalProperties: false })).toBe(false);
  });
});
