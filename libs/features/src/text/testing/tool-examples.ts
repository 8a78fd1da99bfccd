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
  'examples, deferred loading and other options of functions': {
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
  'tool choice: none, any, or one function': {
    responses: { given: FUNCTION.responses, added: { tool_choice: { type: 'function', name: 'f' } } },
    messages: { given: FUNCTION.messages, added: { tool_choice: { type: 'tool', name: 'f' } } },
    gemini: {
      given: FUNCTION.gemini,
      added: { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } } },
    },
  },
  'required tool choice without tools': {
    responses: { added: { tool_choice: 'required' } },
    messages: { added: { tool_choice: { type: 'any' } } },
    gemini: { added: { toolConfig: { functionCallingConfig: { mode: 'ANY' } } } },
  },
  'tool choice of an unknown function': {
    responses: { given: FUNCTION.responses, added: { tool_choice: { type: 'function', name: 'h' } } },
    messages: { given: FUNCTION.messages, added: { tool_choice: { type: 'tool', name: 'h' } } },
    gemini: {
      given: FUNCTION.gemini,
      added: { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f', 'h'] } } },
    },
  },
  'tool choice among a subset': {
    responses: {
      given: TWO_FUNCTIONS.responses,
      added: { tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] } },
    },
    gemini: {
      given: TWO_FUNCTIONS.gemini,
      added: { toolConfig: { functionCallingConfig: { mode: 'VALIDATED', allowedFunctionNames: ['f'] } } },
    },
  },
  'no parallel tool calls': {
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
  'tool choice of a free-form tool': {
    responses: {
      given: { tools: [{ type: 'custom', name: 'apply_patch' }] },
      added: { tool_choice: { type: 'custom', name: 'apply_patch' } },
    },
  },
  'hosted tool, offered beside other tools': {
    responses: { added: { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] } },
    messages: { added: { tools: [{ type: 'code_execution_20250522', name: 'code_execution' }] } },
    gemini: { added: { tools: [{ codeExecution: {} }] } },
  },
  'hosted tool, required': {
    responses: {
      added: { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }], tool_choice: 'required' },
    },
    messages: {
      added: { tools: [{ type: 'code_execution_20250522', name: 'code_execution' }], tool_choice: { type: 'any' } },
    },
  },
  'tools added or removed in mid-conversation': {
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
