import type { JsonObject, TextRequest } from '#contracts';
import { PLAIN, RICH, saying, SCHEMA } from './testing/text-requests.js';
import { type Protocol, WISHES } from './testing/wishes.js';
import { PROTOCOL_CODECS } from './open-text-upstreams.js';

const MARKED = { cache_control: { type: 'ephemeral' } };

const PROTOCOLS = Object.keys(PROTOCOL_CODECS) as Protocol[];

const write = (protocol: Protocol, change: Partial<TextRequest>): JsonObject =>
  PROTOCOL_CODECS[protocol].write({ ...PLAIN, ...change }, 'upstream-name', {});

describe('A request that says nearly everything is written', () => {
  it('as a chat completion: images of results follow as a user message, and no vendor’s proof is sent', () => {
    expect(write('chat', RICH)).toEqual({
      model: 'upstream-name',
      messages: [
        { role: 'system', content: 'Be brief.\n\nBe kind.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: 'https://a.example/1.png', detail: 'low' } },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          ],
        },
        {
          role: 'assistant',
          content: 'Let me see.',
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: '22 degrees\n[image below]' },
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/png;base64,BBBB' } },
            { type: 'text', text: 'And now?' },
          ],
        },
      ],
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 5_000,
      temperature: 0.5,
      top_p: 0.9,
      user: 'user-7',
      tools: [
        {
          type: 'function',
          function: { name: 'get_weather', description: 'The weather.', parameters: SCHEMA, strict: true },
        },
        { type: 'function', function: { name: 'get_time' } },
      ],
      tool_choice: 'auto',
    });
  });

  it('as a response: nothing is stored, and only this vendor’s own proof is sent', () => {
    expect(write('responses', RICH)).toEqual({
      model: 'upstream-name',
      input: [
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is this?' },
            { type: 'input_image', image_url: 'https://a.example/1.png', detail: 'low' },
            { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' },
          ],
        },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Well' }], encrypted_content: 'proof-r' },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Let me see.', annotations: [] }],
        },
        { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Paris"}' },
        {
          type: 'function_call_output',
          call_id: 'call_1',
          output: [
            { type: 'input_text', text: '22 degrees' },
            { type: 'input_image', image_url: 'data:image/png;base64,BBBB', detail: 'auto' },
          ],
        },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And now?' }] },
      ],
      stream: true,
      store: false,
      instructions: 'Be brief.\n\nBe kind.',
      max_output_tokens: 5_000,
      temperature: 0.5,
      top_p: 0.9,
      safety_identifier: 'user-7',
      tools: [
        { type: 'function', name: 'get_weather', description: 'The weather.', parameters: SCHEMA, strict: true },
        {
          type: 'function',
          name: 'get_time',
          description: null,
          parameters: { type: 'object', properties: {} },
          strict: false,
        },
      ],
      tool_choice: 'auto',
    });
  });

  it('as a message: neighbours of a role are one message, results first, and what turns share is marked for the cache', () => {
    expect(write('messages', RICH)).toEqual({
      model: 'upstream-name',
      max_tokens: 5_000,
      stream: true,
      system: [{ type: 'text', text: 'Be brief.\n\nBe kind.', ...MARKED }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image', source: { type: 'url', url: 'https://a.example/1.png' } },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' }, ...MARKED },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm', signature: 'proof-m' },
            { type: 'text', text: 'Let me see.' },
            { type: 'tool_use', id: 'call_1', name: 'get_weather', input: { city: 'Paris' } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'call_1',
              content: [
                { type: 'text', text: '22 degrees' },
                { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'BBBB' } },
              ],
            },
            { type: 'text', text: 'And now?', ...MARKED },
          ],
        },
      ],
      temperature: 0.5,
      top_p: 0.9,
      metadata: { user_id: 'user-7' },
      tools: [
        { name: 'get_weather', description: 'The weather.', input_schema: SCHEMA },
        { name: 'get_time', input_schema: { type: 'object', properties: {} } },
      ],
    });
  });

  it('as content: the proof stands on the part it belongs to', () => {
    expect(write('gemini', RICH)).toEqual({
      systemInstruction: { parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] },
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'What is this?' },
            { fileData: { fileUri: 'https://a.example/1.png', mimeType: 'image/png' } },
            { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
          ],
        },
        {
          role: 'model',
          parts: [
            { text: 'Let me see.', thoughtSignature: 'proof-g' },
            { functionCall: { id: 'call_1', name: 'get_weather', args: { city: 'Paris' } } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'call_1', name: 'get_weather', response: { output: '22 degrees' } } },
            { inlineData: { mimeType: 'image/png', data: 'BBBB' } },
            { text: 'And now?' },
          ],
        },
      ],
      generationConfig: { maxOutputTokens: 5_000, temperature: 0.5, topP: 0.9 },
      tools: [
        {
          functionDeclarations: [
            { name: 'get_weather', description: 'The weather.', parametersJsonSchema: SCHEMA },
            { name: 'get_time' },
          ],
        },
      ],
    });
  });
});

describe('Words that came between a call and its result', () => {
  const result = {
    type: 'result' as const,
    name: 'get_time',
    content: [{ type: 'text' as const, text: 'noon' }],
    isError: false,
  };
  const call = (id: string) => ({ type: 'call' as const, id, name: 'get_time', arguments: '{}' });
  const turns: TextRequest['turns'] = [
    ...PLAIN.turns,
    { role: 'assistant', parts: [call('a'), call('b')] },
    { role: 'user', parts: [{ ...result, callId: 'a' }] },
    { role: 'user', parts: [{ type: 'text', text: 'Hurry' }] },
    { role: 'user', parts: [{ ...result, callId: 'b' }] },
    { role: 'assistant', parts: [{ type: 'text', text: 'Noon.' }] },
    { role: 'user', parts: [{ type: 'text', text: 'Thanks' }] },
  ];

  it('follow the result in a chat, which refuses anything else', () => {
    const messages = write('chat', { turns })['messages'] as JsonObject[];
    expect(messages.map((message) => message['tool_call_id'] ?? message['role'])).toEqual([
      'user',
      'assistant',
      'a',
      'b',
      'user',
      'assistant',
      'user',
    ]);
  });

  it('follow the result in a message, which refuses anything else', () => {
    expect(write('messages', { turns })).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant' },
        { content: [{ tool_use_id: 'a' }, { tool_use_id: 'b' }, { type: 'text', text: 'Hurry' }] },
        { role: 'assistant' },
        { role: 'user' },
      ],
    });
  });
});

describe.each(PROTOCOLS)('The request to a %s upstream', (protocol) => {
  it.each(WISHES)('carries %s', (_wish, change, expected) => {
    expect(write(protocol, change)).toMatchObject(expected[protocol]);
  });

  it('contains nothing that the caller did not send', () => {
    const said = write(protocol, {});
    expect(JSON.stringify(said)).not.toContain('null');
    expect(Object.keys(said)).not.toEqual(expect.arrayContaining(['tools']));
  });

  it('refuses a tool that another vendor runs', () => {
    const hosted = PROTOCOLS.filter((other) => other !== protocol && other !== 'chat');
    for (const other of hosted) {
      const tool = { protocol: other as 'responses', param: 'tools[0]', type: 'web_search', definition: {} };
      expect(() => write(protocol, { hostedTools: [tool] })).toThrow(
        expect.objectContaining({ code: 'unsupported_parameter', param: 'tools[0]' }),
      );
    }
  });
});

it.each<[Protocol, Partial<TextRequest>, string]>([
  ['responses', { stopSequences: ['END'] }, 'stop'],
  ['messages', { temperature: 1.5 }, 'temperature'],
  [
    'chat',
    { turns: [{ role: 'user', parts: [{ type: 'file', source: { kind: 'url', url: 'https://a.example/a.pdf' } }] }] },
    'file',
  ],
])('A request to a %s upstream cannot carry %j, and the error names the field', (protocol, change, param) => {
  expect(() => write(protocol, change)).toThrow(expect.objectContaining({ code: 'unsupported_parameter', param }));
});

it('A newer chat upstream gets its output limit under the newer name', () => {
  const body = PROTOCOL_CODECS.chat.write({ ...PLAIN, maxOutputTokens: 9 }, 'm', {
    ...saying('chat', { output_limit_field: 'max_completion_tokens' }),
  });
  expect(body).toMatchObject({ max_completion_tokens: 9 });
  expect(body).not.toHaveProperty('max_tokens');
});
