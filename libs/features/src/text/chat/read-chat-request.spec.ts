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
