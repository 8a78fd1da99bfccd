import { ChatRequest, checkBody, type JsonObject, type JsonValue, type TextRequest } from '#contracts';
import { readChatRequest } from './read-chat-request.js';

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };

function read(fields: JsonObject): TextRequest {
  const body = { model: 'm', messages: [{ role: 'user', content: 'x' }], ...fields };
  expect(checkBody(ChatRequest, body)).toEqual([]);
  return readChatRequest(body as never, 'm', false);
}

describe('A choice among tools', () => {
  const allowed = (mode: string, ...tools: JsonObject[]): JsonObject => ({
    tools: [
      { type: 'function', function: { name: 'f' } },
      { type: 'custom', custom: { name: 'p' } },
    ],
    tool_choice: { type: 'allowed_tools', allowed_tools: { mode, tools } },
  });

  it('may name functions and free-form tools', () => {
    const named = [
      { type: 'function', function: { name: 'f' } },
      { type: 'custom', custom: { name: 'p' } },
    ];
    expect(read(allowed('required', ...named)).toolChoice).toEqual({ mode: 'required', names: ['f', 'p'] });
    const { tools, toolChoice } = read(allowed('auto', { type: 'custom', custom: { name: 'p' } }));
    expect([tools.map(({ name }) => name), toolChoice]).toEqual([['p'], { mode: 'auto' }]);
  });

  it('that leaves none of the tools is refused, and forces no call of another', () => {
    expect(() => read(allowed('required', { type: 'a_tool_of_tomorrow' }))).toThrow(
      expect.objectContaining({ code: 'unsupported_parameter', param: 'tool_choice' }),
    );
  });
});

describe('The legacy form of tools', () => {
  const FUNCTIONS = [{ name: 'f', description: 'Finds.', parameters: SCHEMA }, { name: 'g' }];
  const CALLED = { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"city":"Rome"}' } };
  const RESULT = { role: 'function', name: 'f', content: 'sunny' };

  it.each<[string, JsonObject, Partial<TextRequest>]>([
    ['the model may call', {}, { toolChoice: { mode: 'auto' } }],
    ['none may be called', { function_call: 'none' }, { toolChoice: { mode: 'none' } }],
    [
      'one must be called',
      { function_call: { name: 'g' } },
      { toolChoice: { mode: 'required', names: ['g'], param: 'function_call' } },
    ],
  ])('offers functions, of which one at a time is called: %s', (_what, choice, expected) => {
    const request = read({ functions: FUNCTIONS, ...choice });
    expect(request).toMatchObject({ ...expected, tools: FUNCTIONS, parallelToolCalls: false });
  });

  it('pairs each result with the oldest open call of its name', () => {
    const [, called, result, again, other] = read({
      messages: [{ role: 'user', content: 'x' }, CALLED, RESULT, CALLED, { ...RESULT, content: null }],
    }).turns;
    expect([called, again].map((turn) => turn?.parts)).toEqual(
      ['call_1', 'call_2'].map((id) => [{ type: 'call', id, name: 'f', arguments: '{"city":"Rome"}' }]),
    );
    expect([result, other].map((turn) => turn?.parts)).toEqual([
      [{ type: 'result', callId: 'call_1', name: 'f', content: [{ type: 'text', text: 'sunny' }], isError: false }],
      [{ type: 'result', callId: 'call_2', name: 'f', content: [{ type: 'text', text: '' }], isError: false }],
    ]);
  });

  it.each<[string, JsonObject, string]>([
    ['beside tools', { functions: FUNCTIONS, tools: [{ type: 'function', function: { name: 'h' } }] }, 'functions'],
    ['with two choices', { function_call: { name: 'f' }, tool_choice: 'none', functions: FUNCTIONS }, 'function_call'],
    [
      'beside calls in the newer form',
      {
        messages: [
          { ...CALLED, tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }] },
        ],
      },
      'messages[0].function_call',
    ],
    ['of a result without a call', { messages: [RESULT] }, 'messages[0].name'],
  ])('is refused by name where it says two things, or nothing: %s', (_what, fields, param) => {
    expect(() => read(fields)).toThrow(expect.objectContaining({ param }));
  });

  it.each<[JsonObject, string]>([
    [{ function_call: 'must' }, 'function_call'],
    [{ function_call: {} }, 'function_call.name'],
    [{ messages: [{ role: 'function', content: 'x' }] }, 'messages[0].name'],
    [{ messages: [{ role: 'function', name: 'f' }] }, 'messages[0].content'],
    [{ messages: [{ role: 'assistant', function_call: { name: 'f' } }] }, 'messages[0].function_call.arguments'],
  ])('is checked: %j', (fields, param) => {
    const body = { model: 'm', messages: [{ role: 'user', content: 'x' }], functions: FUNCTIONS, ...fields };
    expect(checkBody(ChatRequest, body)).toMatchObject([{ param }]);
  });
});

describe('Fields of single vendors', () => {
  it.each<[string, JsonObject, Partial<TextRequest>]>([
    ['any call', { tool_choice: 'any' }, { toolChoice: { mode: 'required', names: [] } }],
    [
      'a schema beside the word for JSON',
      { response_format: { type: 'json_object', schema: SCHEMA } },
      { format: { type: 'json-schema', name: 'output', schema: SCHEMA } },
    ],
    ['any JSON', { response_format: { type: 'json_object', schema: null } }, { format: { type: 'json' } }],
    ['a stop sequence without a character', { stop: '' }, { stopSequences: [] }],
    ['one of several', { stop: ['', 'END'] }, { stopSequences: ['END'] }],
  ])('are understood: %s', (_, fields, request) => {
    expect(read(fields)).toMatchObject(request);
  });

  it.each<[string, JsonValue, JsonValue]>([
    ['guided_json', SCHEMA, null],
    ['guided_regex', 'a', null],
    ['guided_choice', ['a'], []],
    ['guided_grammar', 'a', null],
    ['structured_outputs', { json: SCHEMA }, null],
    ['bad_words', ['a'], []],
    ['stop_token_ids', [1], []],
    ['min_tokens', 5, 0],
    ['ignore_eos', true, false],
    ['include_stop_str_in_output', true, false],
  ])('are refused where only their own server could do what they ask: %s', (field, asked, unasked) => {
    expect(() => read({ [field]: asked })).toThrow(
      expect.objectContaining({ code: 'unsupported_parameter', param: field }),
    );
    expect(read({ [field]: unasked })).toEqual(read({}));
  });
});

it('A picture that its client calls image/jpg is one of the type image/jpeg', () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/jpg;base64,AAAA' } };
  const [turn] = read({ messages: [{ role: 'user', content: [image] }] }).turns;
  expect(turn?.parts).toMatchObject([{ source: { kind: 'inline', mediaType: 'image/jpeg', base64: 'AAAA' } }]);
});
