import type { JsonObject } from '#contracts';
import { output, response, result } from './earlier-calls.js';
import { PNG } from './media-examples.js';
import type { Examples } from './translation-example.js';

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

/** The calls of earlier turns, and their results. */
export const RESULT_EXAMPLES: Readonly<Record<string, Examples>> = {
  'calls and results of earlier turns': {
    responses: { added: output('y') },
    messages: { added: result({ content: 'y' }) },
    gemini: { added: response({ response: { result: 'y' } }) },
  },
  'calls of free-form tools in earlier turns': {
    responses: {
      added: {
        input: [
          { role: 'user', content: 'x' },
          { type: 'custom_tool_call', call_id: 'c', name: 'apply_patch', input: '*** Begin' },
          { type: 'custom_tool_call_output', call_id: 'c', output: 'y' },
        ],
      },
    },
  },
  'image in a tool result': {
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
  'tool references in a result': {
    messages: {
      given: result({ content: [] }),
      added: result({ content: [{ type: 'tool_reference', tool_name: 'get_time' }] }),
    },
  },
  'file in a tool result': {
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
  'failed function result': {
    messages: { given: result({ content: 'y' }), added: result({ content: 'y', is_error: true }) },
    gemini: { given: response({ response: { result: 'y' } }), added: response({ response: { error: 'y' } }) },
  },
  'searches and MCP calls in earlier turns': {
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
  'calls and results of other hosted tools': {
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
};
