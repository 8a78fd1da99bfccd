import type { JsonObject } from '#contracts';
import { MEDIA_EXAMPLES, parts, PNG } from './media-examples.js';
import { SETTING_EXAMPLES } from './setting-examples.js';
import type { Example, Examples } from './translation-example.js';

const SCHEMA: JsonObject = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

const CALLED = {
  responses: [
    { role: 'user', content: 'x' },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":1}' },
  ],
  messages: [
    { role: 'user', content: 'x' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: { a: 1 } }] },
  ],
  gemini: [
    { role: 'user', parts: [{ text: 'x' }] },
    { role: 'model', parts: [{ functionCall: { id: 'c', name: 'f', args: { a: 1 } } }] },
  ],
} satisfies Record<string, JsonObject[]>;

const result = (added: JsonObject): JsonObject => ({
  messages: [...CALLED.messages, { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', ...added }] }],
});
const response = (added: JsonObject): JsonObject => ({
  contents: [...CALLED.gemini, { role: 'user', parts: [{ functionResponse: { id: 'c', name: 'f', ...added } }] }],
});
const output = (sent: JsonObject[] | string): JsonObject => ({
  input: [...CALLED.responses, { type: 'function_call_output', call_id: 'c', output: sent }],
});

const FUNCTION = {
  responses: { tools: [{ type: 'function', name: 'f', parameters: SCHEMA }] },
  messages: { tools: [{ name: 'f', input_schema: SCHEMA }] },
  gemini: { tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: SCHEMA }] }] },
} satisfies Record<string, JsonObject>;

const TWO_FUNCTIONS = {
  responses: { tools: [...FUNCTION.responses.tools, { type: 'function', name: 'g' }] },
  gemini: { tools: [...FUNCTION.gemini.tools, { functionDeclarations: [{ name: 'g' }] }] },
} satisfies Record<string, JsonObject>;

/** A call of an earlier turn, with reasoning before it that `proof` belongs to. */
const reasoned = (proof: string): Record<'responses' | 'messages' | 'gemini', JsonObject> => ({
  responses: {
    input: [
      CALLED.responses[0] as JsonObject,
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'deep' }], encrypted_content: proof },
      CALLED.responses[1] as JsonObject,
      { type: 'function_call_output', call_id: 'c', output: 'y' },
    ],
  },
  messages: {
    messages: [
      CALLED.messages[0] as JsonObject,
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'deep', signature: proof },
          { type: 'tool_use', id: 'c', name: 'f', input: { a: 1 } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'y' }] },
    ],
  },
  gemini: {
    contents: [
      CALLED.gemini[0] as JsonObject,
      { role: 'model', parts: [{ functionCall: { id: 'c', name: 'f', args: { a: 1 } }, thoughtSignature: proof }] },
      { role: 'user', parts: [{ functionResponse: { id: 'c', name: 'f', response: { result: 'y' } } }] },
    ],
  },
});

const inTheMiddle = (body: JsonObject, turns: string, said: JsonObject): JsonObject => ({
  ...body,
  [turns]: [...(body[turns] as JsonObject[]), said],
});

const PDF_BLOCK: JsonObject = {
  type: 'document',
  source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
};
const FOUND: JsonObject = {
  type: 'search_result',
  source: 'https://a.example/page',
  title: 'A page',
  content: [{ type: 'text', text: 'what stands there' }],
};

/** The same without the reasoning. */
const UNREASONED = {
  responses: output('y'),
  messages: result({ content: 'y' }),
  gemini: response({ response: { result: 'y' } }),
};

const fromGiven = (
  given: Record<'responses' | 'messages' | 'gemini', JsonObject>,
  added: Record<'responses' | 'messages' | 'gemini', JsonObject>,
): Record<'responses' | 'messages' | 'gemini', Example> => ({
  responses: { given: given.responses, added: added.responses },
  messages: { given: given.messages, added: added.messages },
  gemini: { given: given.gemini, added: added.gemini },
});

/** A proof of each vendor, which is told only to its own. */
export const PROOF = '$PROOF';
export const FOREIGN_PROOF = 'sandbox:reasoning';

/** For every feature and every style that can say it, a request that does. */
export const TRANSLATION_EXAMPLES: Readonly<Record<string, Examples>> = {
  'system prompt': {
    responses: { added: { instructions: 'Be brief.' } },
    messages: { added: { system: [{ type: 'text', text: 'Be brief.' }] } },
    gemini: { added: { systemInstruction: { parts: [{ text: 'Be brief.' }] } } },
  },
  'system message in the middle': {
    responses: {
      given: output('y'),
      added: inTheMiddle(output('y'), 'input', { role: 'developer', content: 'Be long.' }),
    },
    messages: {
      given: result({ content: 'y' }),
      added: inTheMiddle(result({ content: 'y' }), 'messages', { role: 'system', content: 'Be long.' }),
    },
  },
  ...MEDIA_EXAMPLES,
  functions: {
    responses: { added: FUNCTION.responses },
    messages: { added: FUNCTION.messages },
    gemini: { added: FUNCTION.gemini },
  },
  'strict functions': {
    responses: {
      given: FUNCTION.responses,
      added: { tools: [{ type: 'function', name: 'f', parameters: SCHEMA, strict: true }] },
    },
    messages: { given: FUNCTION.messages, added: { tools: [{ name: 'f', input_schema: SCHEMA, strict: true }] } },
  },
  'examples, deferral and further marks of functions': {
    responses: {
      given: FUNCTION.responses,
      added: { tools: [{ ...FUNCTION.responses.tools[0], defer_loading: true, output_schema: SCHEMA }] },
    },
    messages: {
      given: FUNCTION.messages,
      added: {
        tools: [{ ...FUNCTION.messages.tools[0], input_examples: [{ city: 'Rome' }], eager_input_streaming: true }],
      },
    },
    gemini: {
      given: FUNCTION.gemini,
      added: {
        tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: SCHEMA, behavior: 'BLOCKING' }] }],
      },
    },
  },
  'no call, any call, or a call of one function': {
    responses: { given: FUNCTION.responses, added: { tool_choice: { type: 'function', name: 'f' } } },
    messages: { given: FUNCTION.messages, added: { tool_choice: { type: 'tool', name: 'f' } } },
    gemini: {
      given: FUNCTION.gemini,
      added: { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } } },
    },
  },
  'some of the functions': {
    responses: {
      given: TWO_FUNCTIONS.responses,
      added: { tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] } },
    },
    gemini: {
      given: TWO_FUNCTIONS.gemini,
      added: { toolConfig: { functionCallingConfig: { mode: 'VALIDATED', allowedFunctionNames: ['f'] } } },
    },
  },
  'one call at a time': {
    responses: { given: FUNCTION.responses, added: { parallel_tool_calls: false } },
    messages: { given: FUNCTION.messages, added: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } } },
  },
  'free-form tools and namespaces': {
    responses: {
      added: {
        tools: [
          { type: 'custom', name: 'apply_patch' },
          { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'g', parameters: SCHEMA }] },
        ],
      },
    },
  },
  'tool that the vendor runs, offered beside others': {
    responses: { added: { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] } },
    messages: { added: { tools: [{ type: 'code_execution_20250522', name: 'code_execution' }] } },
    gemini: { added: { tools: [{ codeExecution: {} }] } },
  },
  'tool that the vendor runs, insisted on': {
    responses: {
      added: { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }], tool_choice: 'required' },
    },
    messages: {
      added: { tools: [{ type: 'code_execution_20250522', name: 'code_execution' }], tool_choice: { type: 'any' } },
    },
  },
  'calls and results of earlier turns': {
    responses: { added: output('y') },
    messages: { added: result({ content: 'y' }) },
    gemini: { added: response({ response: { result: 'y' } }) },
  },
  'picture in a result': {
    responses: {
      given: output([{ type: 'input_text', text: 'y' }]),
      added: output([
        { type: 'input_text', text: 'y' },
        { type: 'input_image', image_url: `data:image/png;base64,${PNG}` },
      ]),
    },
    messages: {
      given: result({ content: 'y' }),
      added: result({
        content: [
          { type: 'text', text: 'y' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
        ],
      }),
    },
    gemini: {
      given: response({ response: { result: 'y' } }),
      added: response({ response: { result: 'y' }, parts: [{ inlineData: { mimeType: 'image/png', data: PNG } }] }),
    },
  },
  'file in a result': {
    responses: {
      given: output('y'),
      added: output([{ type: 'input_file', file_data: 'data:application/pdf;base64,JVBERi0=' }]),
    },
    messages: { given: result({ content: 'y' }), added: result({ content: [PDF_BLOCK] }) },
    gemini: {
      given: response({ response: { result: 'y' } }),
      added: response({
        response: { result: 'y' },
        parts: [{ inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } }],
      }),
    },
  },
  'search results': {
    messages: { given: result({ content: 'y' }), added: result({ content: [FOUND] }) },
  },
  'result of a function that failed': {
    messages: { given: result({ content: 'y' }), added: result({ content: 'y', is_error: true }) },
    gemini: { given: response({ response: { result: 'y' } }), added: response({ response: { error: 'y' } }) },
  },
  'searches and calls of servers of tools (MCP) in earlier turns': {
    responses: {
      added: {
        input: [
          { role: 'user', content: 'x' },
          { type: 'mcp_call', id: 'mcp_1', server_label: 's', name: 'f', arguments: '{}', output: 'y' },
        ],
      },
    },
    messages: {
      added: {
        messages: [
          { role: 'user', content: 'x' },
          {
            role: 'assistant',
            content: [
              { type: 'mcp_tool_use', id: 'm', name: 'f', server_name: 's', input: {} },
              { type: 'mcp_tool_result', tool_use_id: 'm', is_error: false, content: [{ type: 'text', text: 'y' }] },
            ],
          },
        ],
      },
    },
  },
  'results and calls of other tools that the vendor ran': {
    responses: {
      added: {
        input: [
          { role: 'user', content: 'x' },
          { type: 'code_interpreter_call', id: 'ci_1' },
        ],
      },
    },
    messages: {
      added: {
        messages: [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: [{ type: 'server_tool_use', id: 's', name: 'code_execution', input: {} }] },
        ],
      },
    },
    gemini: { added: { contents: [{ role: 'model', parts: [{ executableCode: { code: '1' } }] }] } },
  },
  'reasoning that the same vendor proved': fromGiven(UNREASONED, reasoned(PROOF)),
  'reasoning that another vendor proved': fromGiven(UNREASONED, reasoned(FOREIGN_PROOF)),
  'NUL and halves of characters': {
    responses: { added: { input: 'a\0b\ud83d' } },
    messages: { added: { messages: [{ role: 'user', content: 'a\0b\ud83d' }] } },
    gemini: { added: parts({ text: 'a\0b\ud83d' }) },
  },
  ...SETTING_EXAMPLES,
};
