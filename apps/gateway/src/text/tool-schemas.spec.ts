import type { JsonObject } from '#contracts';
import { MODEL_OVER, startTextGateway, type TextGateway, UPSTREAMS } from '../testing/text-vendor/text-gateway.js';
import { type Style, STYLES, textRequest } from '../testing/text-vendor/text-requests.js';

const BY_NAME: JsonObject = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const BY_NUMBER: JsonObject = { type: 'object', properties: { zip: { type: 'integer' } }, required: ['zip'] };

/** Schemas whose root is no plain object, as generators of schemas write them. */
const SCHEMAS: Readonly<Record<string, JsonObject>> = {
  anyOf: { anyOf: [BY_NAME, BY_NUMBER] },
  oneOf: { type: 'object', oneOf: [BY_NAME, BY_NUMBER] },
  allOf: { allOf: [BY_NAME, { properties: { zip: { type: 'integer' } } }] },
  $ref: { $ref: '#/definitions/Place', definitions: { Place: BY_NAME } },
  'no type': { properties: { city: { type: 'string' } } },
  'a list of types': { ...BY_NAME, type: ['object', 'null'] },
};

const toolsOf = (style: Style, parameters: JsonObject): JsonObject => {
  const name = 'find_place';
  switch (style) {
    case 'responses':
      return { tools: [{ type: 'function', name, parameters }] };
    case 'chat':
      return { tools: [{ type: 'function', function: { name, parameters } }] };
    case 'messages':
      return { tools: [{ name, input_schema: parameters }] };
    default:
      return { tools: [{ functionDeclarations: [{ name, parametersJsonSchema: parameters }] }] };
  }
};

let gateway: TextGateway;
beforeAll(async () => {
  gateway = await startTextGateway();
  gateway.vendor.isStrict = true;
});
afterAll(() => gateway.stop());

async function ask(style: Style, model: string, stream: boolean, parameters: JsonObject): Promise<string> {
  const text = 'Please call find_place with {"city":"Paris"}';
  const { path, body, headers } = textRequest(style, { key: gateway.key, model, stream, text });
  const answer = await fetch(gateway.baseUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...body, ...toolsOf(style, parameters) }),
  });
  return answer.text();
}

describe.each(STYLES)('A function whose arguments are put together of several schemas, in the %s style', (style) => {
  const others = UPSTREAMS.filter((upstream) => upstream !== style);

  it.each(others)('is offered to a vendor over %s that wants one object, and called', async (upstream) => {
    for (const parameters of Object.values(SCHEMAS))
      for (const stream of [false, true])
        expect(await ask(style, MODEL_OVER[upstream], stream, parameters)).toMatch(/find_place[^]*(Paris|city)/);
  });

  it('is what it is to its own vendor, whose words come back', async () => {
    expect(await ask(style, MODEL_OVER[style], false, { anyOf: [BY_NAME, BY_NUMBER] })).toContain(
      "schema must have type 'object'",
    );
    expect(gateway.vendor.last.text).toContain('"anyOf"');
  });

  it.each(others.filter((upstream) => upstream !== 'sandbox'))(
    'is refused by name where it is no object at all, over %s',
    async (upstream) => {
      const schema = { anyOf: [{ type: 'string' }, { $ref: '#/$defs/nobody' }] };
      expect(await ask(style, MODEL_OVER[upstream], false, schema)).toContain('find_place');
    },
  );
});
