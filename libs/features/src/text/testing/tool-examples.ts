import type { JsonObject } from '#contracts';
import type { Examples } from './translation-example.js';

const SCHEMA: JsonObject = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

const FUNCTION = {
  responses: { tools: [{ type: 'function', name: 'f', parameters: SCHEMA }] },
  messages: { tools: [{ name: 'f', input_schema: SCHEMA }] },
  gemini: { tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: SCHEMA }] }] },
} satisfies Record<string, JsonObject>;

const TWO_FUNCTIONS = {
  responses: { tools: [...FUNCTION.responses.tools, { type: 'function', name: 'g' }] },
  gemini: { tools: [...FUNCTION.gemini.tools, { functionDeclarations: [{ name: 'g' }] }] },
} satisfies Record<string, JsonObject>;

/** Tools that are offered, and which of them are to be called. */
export const TOOL_EXAMPLES: Readonly<Record<string, Examples>> = {
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
    gemini: { given: FUNCTION.gemini, added: { toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } } } },
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
        toolConfig: {
          functionCallingConfig: { streamFunctionCallArguments: true },
          includeServerSideToolInvocations: true,
        },
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
  'call that must be made where there is nothing to call': {
    responses: { added: { tool_choice: 'required' } },
    messages: { added: { tool_choice: { type: 'any' } } },
    gemini: { added: { toolConfig: { functionCallingConfig: { mode: 'ANY' } } } },
  },
  'call of a function that is not among the tools': {
    responses: { given: FUNCTION.responses, added: { tool_choice: { type: 'function', name: 'h' } } },
    messages: { given: FUNCTION.messages, added: { tool_choice: { type: 'tool', name: 'h' } } },
    gemini: {
      given: FUNCTION.gemini,
      added: { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f', 'h'] } } },
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
  'one free-form tool that must be called': {
    responses: {
      given: { tools: [{ type: 'custom', name: 'apply_patch' }] },
      added: { tool_choice: { type: 'custom', name: 'apply_patch' } },
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
  'tools that a conversation adds or takes away': {
    responses: {
      added: {
        input: [
          { role: 'user', content: 'x' },
          { type: 'additional_tools', role: 'developer', tools: FUNCTION.responses.tools },
        ],
      },
    },
    messages: {
      given: FUNCTION.messages,
      added: {
        messages: [
          { role: 'user', content: 'x' },
          { role: 'system', content: [{ type: 'tool_removal', tool: { type: 'tool_reference', name: 'f' } }] },
        ],
      },
    },
  },
};
