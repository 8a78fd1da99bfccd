import type { JsonObject, TextPart, TextRequest } from '#contracts';
import { PLAIN } from './testing/text-requests.js';
import { PROTOCOL_CODECS } from './open-text-upstreams.js';

type Protocol = keyof typeof PROTOCOL_CODECS;
const PROTOCOLS = Object.keys(PROTOCOL_CODECS) as Protocol[];

const write = (protocol: Protocol, change: Partial<TextRequest>): JsonObject =>
  PROTOCOL_CODECS[protocol].write({ ...PLAIN, ...change }, 'm', { marksPromptCache: false });

const said = (text: string): TextPart[] => [{ type: 'text', text }];

describe('A conversation that the model begins', () => {
  const turns: TextRequest['turns'] = [
    { role: 'assistant', parts: said('Welcome.') },
    { role: 'user', parts: said('Hello') },
  ];

  it.each<[Protocol, JsonObject]>([
    ['messages', { messages: [{ role: 'user', content: [{ text: '.' }] }, { role: 'assistant' }, { role: 'user' }] }],
    ['gemini', { contents: [{ role: 'user', parts: [{ text: '.' }] }, { role: 'model' }, { role: 'user' }] }],
    ['chat', { messages: [{ role: 'assistant' }, { role: 'user' }] }],
    ['responses', { input: [{ role: 'assistant' }, { role: 'user' }] }],
  ])('has the least of a user turn in front of it over %s, where the interface wants one', (protocol, body) => {
    expect(write(protocol, { turns })).toMatchObject(body);
  });
});

describe('An output limit of next to nothing, by which clients try whether a model is there', () => {
  it.each<[Protocol, string, number]>([
    ['responses', 'max_output_tokens', 16],
    ['chat', 'max_tokens', 1],
    ['messages', 'max_tokens', 1],
  ])('is as low over %s as the interface takes it', (protocol, field, least) => {
    expect(write(protocol, { maxOutputTokens: 1 })[field]).toBe(least);
    expect(write(protocol, { maxOutputTokens: 17 })[field]).toBe(17);
    expect(write(protocol, {})[field]).toBe(protocol === 'messages' ? 4_096 : undefined);
  });
});

describe('A user who says nothing', () => {
  const alone: TextRequest['turns'] = [{ role: 'user', parts: said('') }];
  const first: TextRequest['turns'] = [...alone, { role: 'assistant', parts: said('Welcome.') }];

  it.each<[Protocol, JsonObject, JsonObject]>([
    [
      'messages',
      { messages: [{ role: 'user', content: [{ text: '.' }] }] },
      { messages: [{ role: 'user', content: [{ text: '.' }] }, { role: 'assistant' }] },
    ],
    [
      'gemini',
      { contents: [{ role: 'user', parts: [{ text: '.' }] }] },
      { contents: [{ role: 'user', parts: [{ text: '.' }] }, { role: 'model' }] },
    ],
    ['chat', { messages: [{ role: 'user', content: '' }] }, { messages: [{ role: 'user' }, { role: 'assistant' }] }],
    ['responses', { input: [{ role: 'user' }] }, { input: [{ role: 'user' }, { role: 'assistant' }] }],
  ])('has the least of a user turn over %s, where the interface takes no empty one', (protocol, body, begun) => {
    expect(write(protocol, { turns: alone })).toMatchObject(body);
    expect(write(protocol, { turns: first })).toMatchObject(begun);
  });
});

describe('A request in which only the system speaks', () => {
  const request = { system: ['Be brief.'], turns: [{ role: 'system' as const, parts: said('Say hello.') }] };

  it.each<[Protocol, JsonObject]>([
    [
      'messages',
      { system: 'Be brief.', messages: [{ role: 'user', content: [{ type: 'text', text: 'Say hello.' }] }] },
    ],
    [
      'gemini',
      {
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }],
      },
    ],
    ['chat', { messages: [{ role: 'system' }, { role: 'system', content: 'Say hello.' }] }],
    ['responses', { instructions: 'Be brief.', input: [{ role: 'developer', content: [{ text: 'Say hello.' }] }] }],
  ])('has something to answer over %s', (protocol, body) => {
    expect(write(protocol, request)).toMatchObject(body);
  });
});

describe('What one interface refuses and others do not', () => {
  it('is no empty text over gemini, beside others or in a turn of its own', () => {
    const turns: TextRequest['turns'] = [
      { role: 'user', parts: [...said('x'), ...said('')] },
      { role: 'assistant', parts: said('') },
      { role: 'user', parts: said('y') },
    ];
    expect(write('gemini', { turns })['contents']).toEqual([{ role: 'user', parts: [{ text: 'x' }, { text: 'y' }] }]);
  });

  it('is no white space after words that a messages vendor is to continue from', () => {
    const turns: TextRequest['turns'] = [...PLAIN.turns, { role: 'assistant', parts: said('The answer is \n') }];
    expect(write('messages', { turns })['messages']).toMatchObject([{}, { content: [{ text: 'The answer is' }] }]);
    expect(write('messages', { turns: [...turns, ...PLAIN.turns] })['messages']).toMatchObject([
      {},
      { content: [{ text: 'The answer is \n' }] },
      {},
    ]);
  });

  it.each(PROTOCOLS.filter((protocol) => protocol !== 'gemini'))(
    'is no schema of arguments over %s that leaves out that they are an object',
    (protocol) => {
      for (const parameters of [{}, { properties: { a: { type: 'string' } } }])
        expect(JSON.stringify(write(protocol, { tools: [{ name: 'f', parameters }] }))).toContain('{"type":"object"');
    },
  );
});

describe('A result with a number of more digits than a number holds', () => {
  const resultOf = (text: string): unknown => {
    const turns: TextRequest['turns'] = [
      ...PLAIN.turns,
      { role: 'assistant', parts: [{ type: 'call', id: 'c', name: 'f', arguments: '{}' }] },
      { role: 'user', parts: [{ type: 'result', callId: 'c', name: 'f', content: said(text), isError: false }] },
    ];
    return write('gemini', { turns });
  };

  it.each(['{"id":1234567890123456789}', '{"ids":[1, -1234567890123456789]}'])('keeps them over gemini: %s', (json) => {
    expect(JSON.stringify(resultOf(json))).toContain(JSON.stringify({ response: { output: json } }).slice(1, -1));
  });

  it('is an object like any other where its digits stand in a text', () => {
    expect(JSON.stringify(resultOf('{"id":"1234567890123456789"}'))).toContain('{"id":"1234567890123456789"}');
  });
});

describe('A schema of the answer that a messages vendor cannot enforce', () => {
  const schema = { type: 'object', additionalProperties: { type: 'number' } };

  it('is asked for in words', () => {
    const body = write('messages', { system: ['Be brief.'], format: { type: 'json-schema', name: 'scores', schema } });
    expect(body).not.toHaveProperty('output_config');
    expect(body['system']).toMatch(/^Be brief\.\n\nAnswer with JSON .*"additionalProperties":\{"type":"number"\}/s);
  });
});

it.each(PROTOCOLS)('A function that the gateway runs itself is one like any other to a vendor over %s', (protocol) => {
  const tool = { name: 'f', parameters: { type: 'object' } };
  const run = write(protocol, { tools: [{ ...tool, runHere: 'file_search' }] });
  expect(run).toEqual(write(protocol, { tools: [tool] }));
});

it.each<[Protocol, JsonObject]>([
  ['chat', { response_format: { json_schema: { description: 'Where it is.' } } }],
  ['responses', { text: { format: { description: 'Where it is.' } } }],
  ['messages', { output_config: { format: { schema: { description: 'Where it is.' } } } }],
  ['gemini', { generationConfig: { responseJsonSchema: { description: 'Where it is.' } } }],
])('What an answer by a schema is for is told over %s', (protocol, body) => {
  const schema = { type: 'object', properties: {}, additionalProperties: false };
  const format = { type: 'json-schema', name: 'place', description: 'Where it is.', schema } as const;
  expect(write(protocol, { format })).toMatchObject(body);
});

it('How much to say, and the key of the prompt cache, are told a vendor whose interface has both', () => {
  expect(write('responses', { verbosity: 'low', cacheKey: 'k', format: { type: 'json' } })).toMatchObject({
    text: { format: { type: 'json_object' }, verbosity: 'low' },
    prompt_cache_key: 'k',
  });
});

describe('The name of a user', () => {
  const named = (protocol: Protocol, user: string): unknown => {
    const { user: chat, safety_identifier: responses, metadata } = write(protocol, { user });
    return chat ?? responses ?? (metadata as JsonObject)['user_id'];
  };
  /** As an agent names its user: longer than two interfaces take. */
  const agents = `user_${'0'.repeat(64)}_account__session_${'1'.repeat(36)}`;

  it.each<[Protocol, string]>([
    ['chat', 'a@b.example'],
    ['responses', '+49 170 1234567'],
    ['messages', agents],
  ])('reaches a vendor over %s as it is where its interface takes it: %s', (protocol, user) => {
    expect(named(protocol, user)).toBe(user);
  });

  it.each<[Protocol, string]>([
    ['chat', agents],
    ['responses', agents],
    ['messages', 'a@b.example'],
    ['messages', '+49 170 1234567'],
    ['messages', agents.repeat(3)],
  ])('is another over %s where its interface refuses it, and always the same: %s', (protocol, user) => {
    expect(named(protocol, user)).toMatch(/^[0-9a-f]{64}$/);
    expect(named(protocol, user)).toBe(named(protocol, user));
    expect(named(protocol, user)).not.toBe(named(protocol, `${user}0`));
  });
});

it('A key of the prompt cache that is longer than a responses vendor takes is another, and always the same', () => {
  const key = (cacheKey: string): unknown => write('responses', { cacheKey })['prompt_cache_key'];
  expect(key('k'.repeat(64))).toBe('k'.repeat(64));
  expect(key('k'.repeat(65))).toMatch(/^[0-9a-f]{64}$/);
  expect(key('k'.repeat(65))).toBe(key('k'.repeat(65)));
});

it.each([
  ['text/plain', 'document.txt'],
  ['text/csv', 'document.csv'],
  ['text/markdown; charset=utf-8', 'document.md'],
  ['application/json', 'document.json'],
  ['application/x-yaml', 'document.yaml'],
  ['image/svg+xml', 'document.xml'],
  ['application/pdf', 'document.pdf'],
])('A file of the type %s without a name is sent as %s', (mediaType, name) => {
  const file = { type: 'file', source: { kind: 'inline', mediaType, base64: 'eA==' } } as const;
  for (const protocol of ['chat', 'responses'] as const) {
    const turns = [{ role: 'user', parts: [file] }] as const;
    expect(JSON.stringify(PROTOCOL_CODECS[protocol].write({ ...PLAIN, turns }, 'm', {}))).toContain(`"${name}"`);
  }
});

it.each([
  'text/x-python',
  'application/json',
  'application/ld+json',
  'application/javascript',
  'application/x-javascript',
  'application/typescript',
  'application/x-python-code',
  'application/sql',
  'application/toml',
  'application/x-ndjson',
  'application/jsonl',
  'application/x-sh',
  'application/graphql',
  'application/yaml',
])('A file of the type %s is a text to a messages vendor', (mediaType) => {
  const file = { type: 'file', source: { kind: 'inline', mediaType, base64: 'eA==' } } as const;
  const { messages } = write('messages', { turns: [{ role: 'user', parts: [file] }] });
  expect(messages).toMatchObject([{ content: [{ source: { type: 'text', data: 'x' } }] }]);
});

it.each(['application/octet-stream', 'application/zip', 'application/x-sharedlib', 'application/xmlish'])(
  'A file of the type %s is none',
  (mediaType) => {
    const file = { type: 'file', source: { kind: 'inline', mediaType, base64: 'eA==' } } as const;
    expect(() => write('messages', { turns: [{ role: 'user', parts: [file] }] })).toThrow(mediaType);
  },
);

describe('The address of a gemini model', () => {
  it.each([
    ['gemini-4-argon', '/models/gemini-4-argon:generateContent'],
    ['models/gemini-4-argon', '/models/gemini-4-argon:generateContent'],
    ['tunedModels/my-model', '/tunedModels/my-model:generateContent'],
    ['google/gemini-4-argon', '/models/google%2Fgemini-4-argon:generateContent'],
    ['models/../secrets?x', '/models/..%2Fsecrets%3Fx:generateContent'],
  ])('is that of its name, also where an operator writes it as the vendor lists it: %s', (name, path) => {
    expect(PROTOCOL_CODECS.gemini.path(name, false)).toBe(path);
  });
});
