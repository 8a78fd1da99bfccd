import { checkBody } from './body-check.js';
import { GeminiRequest } from './gemini-request.js';
import { camelCaseGemini } from './gemini-spelling.js';
import { CountTokensRequest, MessagesRequest } from './messages-request.js';
import { ResponsesRequest } from './responses-request.js';

const TOOL = {
  type: 'function',
  name: 'f',
  parameters: { type: 'object', properties: { model: {}, Model: {}, MODEL: {} } },
};
const RESPONSES = { model: 'vendor-5', input: [{ role: 'user', content: [{ type: 'input_text', text: 'hi' }] }] };
const MESSAGES = { model: 'vendor-5', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] };
const GEMINI = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };

describe('The fields of a text request', () => {
  it.each([
    ['Model', ResponsesRequest, { ...RESPONSES, Model: 'other' }],
    ['MODEL', MessagesRequest, { ...MESSAGES, MODEL: 'other' }],
    ['MODEL', CountTokensRequest, { model: 'x', messages: MESSAGES.messages, MODEL: 'other' }],
    ['\u017ftream', ResponsesRequest, { ...RESPONSES, '\u017ftream': true }],
    ['bac\u212aground', ResponsesRequest, { ...RESPONSES, 'bac\u212aground': true }],
    ['Service_Tier', ResponsesRequest, { ...RESPONSES, Service_Tier: 'priority' }],
    ['reasoning.Effort', ResponsesRequest, { ...RESPONSES, reasoning: { Effort: 'high' } }],
    ['input[0].Role', ResponsesRequest, { ...RESPONSES, input: [{ ...RESPONSES.input[0], Role: 'system' }] }],
    [
      'input[0].content[0].Text',
      ResponsesRequest,
      { model: 'x', input: [{ role: 'user', content: [{ type: 'input_text', text: 'a', Text: 'b' }] }] },
    ],
    [
      'input[0].content[0].TYPE',
      ResponsesRequest,
      { model: 'x', input: [{ role: 'user', content: [{ type: 'input_text', text: 'a', TYPE: 'input_image' }] }] },
    ],
    ['tools[0].Name', ResponsesRequest, { ...RESPONSES, tools: [{ ...TOOL, Name: 'g' }] }],
    ['tools[0].Type', MessagesRequest, { ...MESSAGES, tools: [{ name: 'f', input_schema: {}, Type: 'web_search' }] }],
    ['New_Field', ResponsesRequest, { ...RESPONSES, new_field: 1, New_Field: 2 }],
    ['generationConfig.MaxOutputTokens', GeminiRequest, { ...GEMINI, generationConfig: { MaxOutputTokens: 5 } }],
    ['Generation_Config', GeminiRequest, { ...GEMINI, Generation_Config: { max_output_tokens: 5 } }],
    ['contents[0].parts[0].TEXT', GeminiRequest, { contents: [{ parts: [{ text: 'a', TEXT: 'b' }] }] }],
  ] as const)('may not differ from known ones only in letter case: %s', (param, type, body) => {
    const sent = type === GeminiRequest ? camelCaseGemini(body).body : body;
    expect(checkBody(type, sent)).toContainEqual(
      expect.objectContaining({ param, code: 'unknown_parameter', message: expect.stringContaining('differs from') }),
    );
  });

  it.each([
    [ResponsesRequest, { ...RESPONSES, tools: [TOOL], metadata: { a: '1', A: '2' }, new_field: 1 }],
    [MessagesRequest, { ...MESSAGES, tools: [{ name: 'f', input_schema: TOOL.parameters }], new_field: 1 }],
    [GeminiRequest, { ...GEMINI, tools: [{ functionDeclarations: [{ name: 'f', parameters: TOOL.parameters }] }] }],
  ] as const)("are the caller's own inside of schemas, arguments and metadata", (type, body) => {
    expect(checkBody(type, body)).toEqual([]);
  });

  it('must not be sent in both spellings of the content-generation style', () => {
    const body = { ...GEMINI, generationConfig: { maxOutputTokens: 5 }, generation_config: { max_output_tokens: 1 } };
    expect(() => camelCaseGemini(body)).toThrow(
      'generation_config and generationConfig are two spellings of the same field',
    );
  });
});
