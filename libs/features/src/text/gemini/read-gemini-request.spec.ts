import { camelCaseGemini, type GeminiRequest, type JsonObject, type TextRequest } from '#contracts';
import { readGeminiRequest } from './read-gemini-request.js';

const SCHEMA: JsonObject = { type: 'object', properties: { first_name: { type: 'string' } } };

/** The request of a body as its client wrote it. */
function read(generationConfig: JsonObject): TextRequest {
  const contents = [{ role: 'user', parts: [{ text: 'x' }] }];
  return readGeminiRequest(camelCaseGemini({ contents, generationConfig }).body as GeminiRequest, 'm', false);
}

it.each<[string, JsonObject, string]>([
  [
    'a part of two contents',
    { contents: [{ role: 'user', parts: [{ text: 'x', inlineData: { mimeType: 'image/png', data: 'aaaa' } }] }] },
    'contents[0].parts[0]',
  ],
  [
    'a level of tomorrow',
    { generationConfig: { thinkingConfig: { thinkingLevel: 'XHIGH' } } },
    'generationConfig.thinkingConfig.thinkingLevel',
  ],
])('Nothing is lost of %s: it is refused', (_what, fields, param) => {
  const body = { contents: [{ role: 'user', parts: [{ text: 'x' }] }], ...fields };
  expect(() => readGeminiRequest(body as never, 'm', false)).toThrow(
    expect.objectContaining({ code: 'unsupported_parameter', param }),
  );
});

describe('The form of an answer in the content-generation style', () => {
  it.each<[string, JsonObject]>([
    ['the former fields', { responseMimeType: 'application/json', responseJsonSchema: SCHEMA }],
    ['the newer field', { responseFormat: [{ text: { mimeType: 'APPLICATION_JSON', schema: SCHEMA } }] }],
    ['the newer field, spelled otherwise', { response_format: [{ text: { schema: SCHEMA } }] }],
    ['a schema alone', { responseJsonSchema: SCHEMA }],
  ])('is read from %s', (_where, config) => {
    expect(read(config).format).toEqual({ type: 'json-schema', name: 'output', schema: SCHEMA });
  });

  it('is read from a schema of the own dialect in either spelling', () => {
    const numbers = { type: 'ARRAY', items: { type: 'INTEGER', format: 'int32' } };
    const schemas: JsonObject[] = [
      { propertyOrdering: ['a'], properties: { a: { anyOf: [{ ...numbers, minItems: '1' }], nullable: true } } },
      { property_ordering: ['a'], properties: { a: { any_of: [{ ...numbers, min_items: '1' }], nullable: true } } },
    ];
    const list = { type: 'array', items: { type: 'integer' }, minItems: 1 };
    for (const responseSchema of schemas)
      expect(read({ responseMimeType: 'application/json', responseSchema }).format).toMatchObject({
        schema: { properties: { a: { anyOf: [list, { type: 'null' }] } } },
      });
    const { format } = read({ responseSchema: { type: 'OBJECT', properties: { min_items: { type: 'STRING' } } } });
    expect(format).toMatchObject({ schema: { properties: { min_items: { type: 'string' } } } });
  });

  it('is a text where nothing else is said', () => {
    expect(read({ responseFormat: [{ text: { mimeType: 'text/plain' } }] }).format).toEqual({ type: 'text' });
    expect(read({}).format).toEqual({ type: 'text' });
  });

  it.each<[string, JsonObject]>([
    ['of two forms', { responseFormat: [{ text: { mimeType: 'text/plain' } }, { text: { schema: SCHEMA } }] }],
    ['of a type that no other vendor has', { responseFormat: [{ text: { mimeType: 'text/x.enum' } }] }],
  ])('is refused %s', (_what, config) => {
    expect(() => read(config)).toThrow(expect.objectContaining({ code: 'unsupported_parameter' }));
  });
});

it('A picture that its client calls image/jpg is one of the type image/jpeg', () => {
  const contents = [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/jpg', data: 'AAAA' } }] }];
  const [turn] = readGeminiRequest({ contents } as never, 'm', false).turns;
  expect(turn?.parts).toMatchObject([{ source: { kind: 'inline', mediaType: 'image/jpeg', base64: 'AAAA' } }]);
});
