import { validateSync } from 'class-validator';
import { checkBody } from './body-check.js';
import { GeminiRequest } from './gemini-request.js';
import { MessagesRequest } from './messages-request.js';
import { ResponsesRequest } from './responses-request.js';

const png = (bytes: number): string => `data:image/png;base64,${'A'.repeat(Math.ceil((bytes * 4) / 3 / 4) * 4)}`;
const user = (...content: object[]): object => ({ role: 'user', content });

const RESPONSES = { model: 'vendor-5', input: 'Hello' };
const MESSAGES = { model: 'vendor-haiku-4-5-20251001', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 64 };
const GEMINI = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] };

const BODIES = { responses: ResponsesRequest, messages: MessagesRequest, gemini: GeminiRequest };
const MINIMAL = { responses: RESPONSES, messages: MESSAGES, gemini: GEMINI };

type Style = keyof typeof BODIES;

const paramsOf = (style: Style, change: object): string[] =>
  checkBody(BODIES[style], { ...MINIMAL[style], ...change }).map((error) => error.param);

describe('text bodies that the API guide allows are accepted', () => {
  it.each<[string, Style, object]>([
    ['4.1 a plain string as input', 'responses', {}],
    [
      '4.1 several text and image blocks',
      'responses',
      {
        input: [
          user(
            { type: 'input_text', text: 'Compare' },
            { type: 'input_image', image_url: 'https://a.example/1.png' },
            { type: 'input_image', image_url: png(3) },
          ),
        ],
      },
    ],
    [
      '4.1 an assistant turn written with input_text',
      'responses',
      {
        input: [
          user({ type: 'input_text', text: 'Hi' }),
          { role: 'assistant', content: [{ type: 'input_text', text: 'Hello' }] },
        ],
      },
    ],
    [
      '4.1 every tool shape at once',
      'responses',
      {
        tools: [
          { type: 'web_search' },
          { type: 'file_search' },
          {
            type: 'function',
            function: { name: 'f', description: 'd', parameters: { type: 'object', properties: {} } },
          },
          { type: 'remote_mcp', remote_mcp: { url: 'https://mcp.example', auth_token: 't', timeout: 30 } },
        ],
      },
    ],
    [
      '4.1 native flat function without a description',
      'responses',
      { tools: [{ type: 'function', name: 'f', parameters: {}, strict: true }] },
    ],
    ['4.1 temperature 0 and 2, top_p 0 and 1', 'responses', { temperature: 2, top_p: 0 }],
    [
      '2.2 an assistant item with tool_calls and null content',
      'responses',
      {
        input: [
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: 'call_1', content: '42' },
        ],
      },
    ],
    ['4.1 a field set to null', 'responses', { temperature: null, tools: null, previous_response_id: null }],
    ['4.1 an item type only a vendor knows', 'responses', { input: [{ type: 'web_search_call', id: 'ws_1' }] }],
    [
      '4.1 an image of exactly 20 MB',
      'responses',
      { input: [user({ type: 'input_image', image_url: png(20 * 1024 * 1024 - 2) })] },
    ],
    ['4.3 max_tokens left out', 'messages', { max_tokens: undefined }],
    ['4.3 four stop sequences', 'messages', { stop_sequences: ['a', 'b', 'c', 'd'] }],
    [
      '4.3 images by url and base64',
      'messages',
      {
        messages: [
          user(
            { type: 'image', source: { type: 'url', url: 'https://a.example/1.png' } },
            { type: 'image', source: { type: 'base64', media_type: 'image/webp', data: 'AAAA' } },
          ),
        ],
      },
    ],
    [
      '4.3 computer, editor and shell tools',
      'messages',
      {
        tools: [
          { type: 'computer_20241022', name: 'computer' },
          { type: 'text_editor_20241022', name: 'e' },
          { type: 'bash_20241022', name: 'bash' },
        ],
      },
    ],
    ['4.3 each tool_choice', 'messages', { tool_choice: { type: 'tool', name: 'f' } }],
    [
      '4.3 a prefilled reply',
      'messages',
      {
        messages: [
          { role: 'user', content: 'A?' },
          { role: 'assistant', content: 'The' },
        ],
      },
    ],
    [
      '4.2 safety settings and a configuration',
      'gemini',
      {
        generationConfig: { temperature: 2, candidateCount: 1, stopSequences: ['x'] },
        safetySettings: [{ category: 'HARM_CATEGORY_HATE_SPEECH', threshold: 'BLOCK_NONE' }],
      },
    ],
  ])('%s', (_case, style, change) => {
    expect(checkBody(BODIES[style], { ...MINIMAL[style], ...change })).toEqual([]);
  });
});

describe('text bodies that break a rule are refused with the field at fault', () => {
  it.each<[string, Style, object, string]>([
    ['a missing model', 'responses', { model: undefined }, 'model'],
    ['a missing input', 'responses', { input: undefined }, 'input'],
    ['an empty input array', 'responses', { input: [] }, 'input'],
    ['a number as input', 'responses', { input: 5 }, 'input'],
    ['an unknown role', 'responses', { input: [{ role: 'robot', content: 'x' }] }, 'input[0].role'],
    ['missing content', 'responses', { input: [{ role: 'user' }] }, 'input[0].content'],
    ['an unknown content block', 'responses', { input: [user({ type: 'input_video' })] }, 'input[0].content[0].type'],
    [
      'text that is no string',
      'responses',
      { input: [user({ type: 'input_text', text: 5 })] },
      'input[0].content[0].text',
    ],
    [
      'a bare base64 image',
      'responses',
      { input: [user({ type: 'input_image', image_url: 'AAAA' })] },
      'input[0].content[0].image_url',
    ],
    [
      'a data URI of another format',
      'responses',
      { input: [user({ type: 'input_image', image_url: 'data:image/bmp;base64,AAAA' })] },
      'input[0].content[0].image_url',
    ],
    [
      'a data URI without ;base64',
      'responses',
      { input: [user({ type: 'input_image', image_url: 'data:image/png,AAAA' })] },
      'input[0].content[0].image_url',
    ],
    [
      'broken base64',
      'responses',
      { input: [user({ type: 'input_image', image_url: 'data:image/png;base64,A*A' })] },
      'input[0].content[0].image_url',
    ],
    ['temperature over 2', 'responses', { temperature: 2.01 }, 'temperature'],
    ['a quoted temperature', 'responses', { temperature: '1' }, 'temperature'],
    ['top_p over 1', 'responses', { top_p: 1.01 }, 'top_p'],
    ['max_output_tokens 0', 'responses', { max_output_tokens: 0 }, 'max_output_tokens'],
    ['a quoted stream flag', 'responses', { stream: 'true' }, 'stream'],
    [
      'a nested function without a description',
      'responses',
      { tools: [{ type: 'function', function: { name: 'f' } }] },
      'tools[0].function.description',
    ],
    ['a function without a name', 'responses', { tools: [{ type: 'function' }] }, 'tools[0].function'],
    [
      'remote_mcp without a url',
      'responses',
      { tools: [{ type: 'remote_mcp', remote_mcp: {} }] },
      'tools[0].remote_mcp.url',
    ],
    [
      'remote_mcp with a fraction of a second',
      'responses',
      { tools: [{ type: 'remote_mcp', remote_mcp: { url: 'https://m.example', timeout: 1.5 } }] },
      'tools[0].remote_mcp.timeout',
    ],
    ['background work', 'responses', { background: true }, 'background'],
    ['a file without a source', 'responses', { input: [user({ type: 'input_file' })] }, 'input[0].content[0]'],
    ['temperature over 1', 'messages', { temperature: 1.01 }, 'temperature'],
    ['top_k as a fraction', 'messages', { top_k: 1.5 }, 'top_k'],
    ['max_tokens 0', 'messages', { max_tokens: 0 }, 'max_tokens'],
    ['five stop sequences', 'messages', { stop_sequences: ['a', 'b', 'c', 'd', 'e'] }, 'stop_sequences'],
    ['no messages', 'messages', { messages: [] }, 'messages'],
    [
      'an image of another type',
      'messages',
      { messages: [user({ type: 'image', source: { type: 'base64', media_type: 'image/bmp', data: 'AAAA' } })] },
      'messages[0].content[0].source.media_type',
    ],
    ['a custom tool without a schema', 'messages', { tools: [{ name: 'f' }] }, 'tools[0].input_schema'],
    ['tool_choice tool without a name', 'messages', { tool_choice: { type: 'tool' } }, 'tool_choice.name'],
    ['an unknown tool_choice', 'messages', { tool_choice: { type: 'maybe' } }, 'tool_choice.type'],
    ['a system number', 'messages', { system: 5 }, 'system'],
    ['empty contents', 'gemini', { contents: [] }, 'contents'],
    ['an empty part', 'gemini', { contents: [{ parts: [{}] }] }, 'contents[0].parts[0]'],
    ['two candidates', 'gemini', { generationConfig: { candidateCount: 2 } }, 'generationConfig.candidateCount'],
    [
      'a safety setting without a threshold',
      'gemini',
      { safetySettings: [{ category: 'X' }] },
      'safetySettings[0].threshold',
    ],
  ])('%s', (_case, style, change, param) => {
    expect(paramsOf(style, change)).toContain(param);
  });

  const anImage =
    'must be an http(s) URL or a data URI that begins with data:image/<format>;base64, where <format> is jpeg, png, gif or webp.';
  const image = (url: unknown) => ({ input: [user({ type: 'input_image', image_url: url })] });
  const imageField = 'input[0].content[0].image_url';

  it.each<[string, Style, object, string]>([
    ['bare base64', 'responses', image('iVBORw0KGgo'), `${imageField} ${anImage}`],
    ['another scheme', 'responses', image('ftp://a.example/b.png'), `${imageField} ${anImage}`],
    ['another format', 'responses', image('data:image/bmp;base64,AAAA'), `${imageField} ${anImage}`],
    ['an object as input', 'responses', { input: {} }, 'input must be a string or an array of input items.'],
    ['an object as system', 'messages', { system: {} }, 'system must be a string or an array of text blocks.'],
    ['no input item', 'responses', { input: [] }, 'input must hold at least 1 item.'],
    ['no message', 'messages', { messages: [] }, 'messages must hold at least 1 item.'],
    [
      'a tool without a type',
      'responses',
      { tools: [{}] },
      'tools[0].type is required and must be a string, for example "function", "web_search", "file_search", "remote_mcp", "custom", "namespace".',
    ],
    [
      'a tool whose type is a number',
      'responses',
      { tools: [{ type: 5 }] },
      'tools[0].type must be a string, for example "function", "web_search", "file_search", "remote_mcp", "custom", "namespace"; it is 5.',
    ],
    [
      'a block whose type is a number',
      'responses',
      { input: [user({ type: 5 })] },
      'input[0].content[0].type must be one of "input_text", "output_text", "text", "refusal", "input_image", "input_file", "input_audio"; it is 5.',
    ],
    [
      'a type with one choice',
      'messages',
      { system: [{ type: 'image' }] },
      'system[0].type must be "text"; it is "image".',
    ],
    [
      'a number in quotes',
      'responses',
      { temperature: '1' },
      'temperature must be a number from 0 to 2. Send it without quotes.',
    ],
    ['a word for a number', 'responses', { temperature: 'hot' }, 'temperature must be a number from 0 to 2.'],
    ['a flag in quotes', 'messages', { stream: 'true' }, 'stream must be true or false. Send it without quotes.'],
    [
      'a whole number in quotes',
      'messages',
      { max_tokens: '64' },
      'max_tokens must be a whole number from 1 to 2147483647. Send it without quotes.',
    ],
  ])('says what is allowed in place of %s', (_case, style, change, message) => {
    expect(checkBody(BODIES[style], { ...MINIMAL[style], ...change })[0]?.message).toBe(message);
  });

  it('names an image over 20 MB as too large', () => {
    const input = [user({ type: 'input_image', image_url: png(20 * 1024 * 1024 + 3) })];
    expect(checkBody(ResponsesRequest, { ...RESPONSES, input })).toMatchObject([
      { param: 'input[0].content[0].image_url', code: 'request_too_large' },
    ]);
  });

  it('lists every broken rule, not only the first', () => {
    expect(paramsOf('messages', { temperature: 3, top_p: 3, max_tokens: -1 })).toEqual([
      'max_tokens',
      'temperature',
      'top_p',
    ]);
  });

  it.each([null, [], 'text', 5])('refuses a body that is no object: %j', (body) => {
    expect(checkBody(ResponsesRequest, body)).toMatchObject([{ code: 'invalid_json' }]);
  });
});

describe('the decorated classes', () => {
  it.each<[Style, object]>([
    ['responses', { temperature: 3 }],
    ['responses', { input: [user({ type: 'input_text' })] }],
    ['messages', { messages: [] }],
    ['gemini', { contents: [{ parts: [{}] }] }],
    ['messages', {}],
    ['gemini', {}],
  ])('agree with class-validator itself on %s %j', (style, change) => {
    const body = { ...MINIMAL[style], ...change };
    const instance: object = Object.assign(new BODIES[style](), body);
    expect(validateSync(instance).length === 0).toBe(checkBody(BODIES[style], body).length === 0);
  });
});
