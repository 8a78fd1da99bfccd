import type { JsonObject } from '#contracts';
import { MODEL_OVER, startTextGateway, type TextGateway, UPSTREAMS } from '../harness/text-vendor/text-gateway.js';
import { type Style, STYLES, textRequest } from '../harness/text-vendor/text-requests.js';

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

const field = (schema: JsonObject): JsonObject => ({ type: 'object', properties: { city: schema } });
const WORD: JsonObject = { type: 'string' };

/** What schemas hold that some vendor or other refuses. */
const INSIDE: Readonly<Record<string, JsonObject>> = {
  'a list of anything': field({ type: 'array' }),
  'schemas by place': field({ type: 'array', items: [WORD, WORD], minItems: 2 }),
  'a bound of an earlier draft': field({ type: 'number', minimum: 0, exclusiveMinimum: true }),
  'a described reference': { ...field({ $ref: '#/$defs/Name', description: 'Which.' }), $defs: { Name: WORD } },
  'a reference by its former name': { ...field({ $ref: '#/definitions/Name' }), definitions: { Name: WORD } },
  'a reference to a field': { type: 'object', properties: { city: WORD, other: { $ref: '#/properties/city' } } },
  'a schema that holds itself': {
    ...field({ $ref: '#/definitions/Node', description: 'The top.' }),
    definitions: { Node: { type: 'object', properties: { next: { $ref: '#/definitions/Node' } } } },
  },
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

async function send(style: Style, model: string, stream: boolean, text: string, more: JsonObject): Promise<string> {
  const { path, body, headers } = textRequest(style, { key: gateway.key, model, stream, text });
  const answer = await fetch(gateway.baseUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...body, ...more }),
  });
  return answer.text();
}

const ask = (style: Style, model: string, stream: boolean, parameters: JsonObject): Promise<string> =>
  send(style, model, stream, 'Please call find_place with {"city":"Paris"}', toolsOf(style, parameters));

describe.each(STYLES)('A function whose arguments are put together of several schemas, in the %s style', (style) => {
  const others = UPSTREAMS.filter((upstream) => upstream !== style);

  it.each(others)('is offered to a vendor over %s that wants one object, and called', async (upstream) => {
    for (const parameters of [...Object.values(SCHEMAS), ...Object.values(INSIDE)])
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

const answerOf = (style: Style, schema?: JsonObject): JsonObject => {
  switch (style) {
    case 'responses':
      return { text: { format: schema ? { type: 'json_schema', name: 'output', schema } : { type: 'json_object' } } };
    case 'chat':
      return {
        response_format: schema
          ? { type: 'json_schema', json_schema: { name: 'output', schema } }
          : { type: 'json_object' },
      };
    case 'messages':
      return schema ? { output_config: { format: { type: 'json_schema', schema } } } : {};
    default:
      return {
        generationConfig: { responseMimeType: 'application/json', ...(schema && { responseJsonSchema: schema }) },
      };
  }
};

/** Answers by the schema that it was sent, as a vendor that enforces it: with the value in its only field, if that is an object of one. */
function answering(value: unknown): void {
  gateway.vendor.script = () => {
    const field = /"properties":\{"(\w+)":/.exec(JSON.stringify(enforced(gateway.vendor.last.body)))?.[1];
    return {
      reasoning: undefined,
      text: JSON.stringify(field === 'answer' ? { answer: value } : value),
      call: undefined,
    };
  };
}

const enforced = ({ text, response_format: format }: Record<string, unknown>): unknown => text ?? format ?? {};

/** The words of an answer, whole or streamed, in any style. */
function wordsIn(body: string): string {
  const words = /^(?:data: )?(\{.*\})/gm;
  return [...body.matchAll(words)].map(([, json]) => wordsOf(JSON.parse(json ?? '{}') as Answer)).join('');
}

interface Answer {
  readonly type?: string;
  readonly delta?: string | { readonly text?: string };
  readonly output?: readonly { readonly content?: readonly { readonly text?: string }[] }[];
  readonly content?: readonly { readonly text?: string }[];
  readonly choices?: readonly Partial<Record<'message' | 'delta', { readonly content?: string | null }>>[];
  readonly candidates?: readonly { readonly content?: { readonly parts?: readonly { readonly text?: string }[] } }[];
}

function wordsOf({ type, delta, output, content, choices, candidates }: Answer): string {
  if (typeof delta === 'object') return delta.text ?? '';
  if (type === 'response.output_text.delta') return delta ?? '';
  const parts = [
    ...(output ?? []).flatMap((item) => item.content ?? []),
    ...(content ?? []),
    ...(candidates ?? []).flatMap((candidate) => candidate.content?.parts ?? []),
  ];
  const said = (choices ?? []).map(({ message, delta: piece }) => (message ?? piece)?.content ?? '');
  return [...parts.map(({ text }) => text ?? ''), ...said].join('');
}

/** Schemas of answers that are no plain object, and an answer to each. */
const ANSWERS: readonly (readonly [string, JsonObject, unknown])[] = [
  ['a list', { type: 'array', items: BY_NAME }, [{ city: 'Paris' }, { city: '}' }]],
  ['a choice', { anyOf: [BY_NAME, { type: 'null' }] }, { city: 'Rome' }],
  ['a word', { type: 'string', enum: ['yes', 'no'] }, 'yes'],
  ['an object elsewhere', { $ref: '#/$defs/Place', $defs: { Place: BY_NAME } }, { city: 'Oslo' }],
  ['a list of shared objects', { type: 'array', items: { $ref: '#/definitions/P' }, definitions: { P: BY_NAME } }, []],
  ['an object with a list of anything', field({ type: 'array' }), { city: [1] }],
];

describe.each(STYLES)('The form of an answer, asked for in the %s style', (style) => {
  const others = UPSTREAMS.filter((upstream) => upstream !== style && upstream !== 'sandbox');
  afterEach(() => {
    gateway.vendor.script = () => undefined;
  });

  it.each(others)('is kept over %s, whose vendors take no other than one object or any', async (upstream) => {
    for (const [, schema, value] of ANSWERS) {
      answering(value);
      for (const stream of [false, true]) {
        const answer = await send(style, MODEL_OVER[upstream], stream, 'Where?', answerOf(style, schema));
        expect(wordsIn(answer)).toBe(JSON.stringify(value));
      }
    }
  });

  it.each(others)('is any JSON over %s, where vendors want to read the word', async (upstream) => {
    if (style === 'messages') return;
    const answer = await send(style, MODEL_OVER[upstream], false, 'Where?', answerOf(style));
    expect(wordsIn(answer)).not.toBe('');
  });
});

describe('A result that holds references of its own', () => {
  it.each(STYLES.filter((style) => style !== 'gemini'))(
    'reaches a content-generation vendor in the %s style',
    async (style) => {
      const result = JSON.stringify({ schema: { $ref: '#/components/schemas/Error' } });
      const answer = await send(style, MODEL_OVER.gemini, false, 'x', withResult(style, result));
      expect(wordsIn(answer)).toContain('The tool said');
      expect(gateway.vendor.last.text).toContain('#/components/schemas/Error');
    },
  );
});

function withResult(style: Style, result: string): JsonObject {
  const question: JsonObject = { role: 'user', content: 'Read it.' };
  if (style === 'responses')
    return {
      input: [
        question,
        { type: 'function_call', call_id: 'call_1', name: 'read', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: result },
      ],
    };
  if (style === 'chat')
    return {
      messages: [
        question,
        {
          role: 'assistant',
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'read', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: result },
      ],
    };
  return {
    messages: [
      question,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'read', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: result }] },
    ],
  };
}
