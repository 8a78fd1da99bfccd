import type { TextRequest } from '#contracts';
import type { PROTOCOL_CODECS } from '../open-text-upstreams.js';
import { RICH, SCHEMA } from './text-requests.js';

export type Protocol = keyof typeof PROTOCOL_CODECS;

/** One wish of a caller, and the fields that say it in each protocol; `undefined`: it goes without saying. */
export const WISHES: readonly (readonly [string, Partial<TextRequest>, Record<Protocol, object>])[] = [
  [
    'no tool',
    { tools: RICH.tools, toolChoice: { mode: 'none' } },
    {
      chat: { tool_choice: 'none' },
      responses: { tool_choice: 'none' },
      messages: { tool_choice: { type: 'none' } },
      gemini: { toolConfig: { functionCallingConfig: { mode: 'NONE' } } },
    },
  ],
  [
    'any tool',
    { tools: RICH.tools, toolChoice: { mode: 'required', names: [] } },
    {
      chat: { tool_choice: 'required' },
      responses: { tool_choice: 'required' },
      messages: { tool_choice: { type: 'any' } },
      gemini: { toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
    },
  ],
  [
    'one tool',
    { tools: RICH.tools, toolChoice: { mode: 'required', names: ['get_time'] } },
    {
      chat: { tool_choice: { type: 'function', function: { name: 'get_time' } } },
      responses: { tool_choice: { type: 'function', name: 'get_time' } },
      messages: { tool_choice: { type: 'tool', name: 'get_time' } },
      gemini: { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['get_time'] } } },
    },
  ],
  [
    'one call at a time',
    { tools: RICH.tools, parallelToolCalls: false },
    {
      chat: { parallel_tool_calls: false },
      responses: { parallel_tool_calls: false },
      messages: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      // It has no words for this, which is a hint.
      gemini: {},
    },
  ],
  [
    'JSON of a schema',
    { format: { type: 'json-schema', name: 'place', schema: SCHEMA, strict: true } },
    {
      chat: {
        response_format: { type: 'json_schema', json_schema: { name: 'place', schema: SCHEMA, strict: true } },
      },
      responses: { text: { format: { type: 'json_schema', name: 'place', schema: SCHEMA, strict: true } } },
      messages: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
      gemini: { generationConfig: { responseMimeType: 'application/json', responseJsonSchema: SCHEMA } },
    },
  ],
  [
    'any JSON',
    { format: { type: 'json' } },
    {
      chat: { response_format: { type: 'json_object' } },
      responses: { text: { format: { type: 'json_object' } } },
      messages: { system: 'Answer with one JSON object and nothing else.' },
      gemini: { generationConfig: { responseMimeType: 'application/json' } },
    },
  ],
  [
    'an effort of reasoning',
    { reasoning: { effort: 'low', visible: true } },
    {
      chat: { reasoning_effort: 'low' },
      responses: { reasoning: { effort: 'low', summary: 'auto' }, include: ['reasoning.encrypted_content'] },
      messages: { thinking: { type: 'enabled', budget_tokens: 2_048 } },
      gemini: { generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 2_048 } } },
    },
  ],
  [
    'a budget of reasoning',
    { reasoning: { budgetTokens: 8_000, visible: false } },
    {
      chat: { reasoning_effort: 'medium' },
      responses: { reasoning: { effort: 'medium' } },
      messages: { thinking: { type: 'enabled', budget_tokens: 8_000 } },
      gemini: { generationConfig: { thinkingConfig: { includeThoughts: false, thinkingBudget: 8_000 } } },
    },
  ],
  [
    'a failed tool',
    {
      turns: [
        { role: 'user', parts: [{ type: 'text', text: 'What time is it?' }] },
        { role: 'assistant', parts: [{ type: 'call', id: 'c', name: 'get_time', arguments: 'not json' }] },
        {
          role: 'user',
          parts: [
            { type: 'result', callId: 'c', name: 'get_time', content: [{ type: 'text', text: 'no' }], isError: true },
          ],
        },
      ],
    },
    {
      chat: { messages: [{}, {}, { role: 'tool', tool_call_id: 'c', content: 'Error: no' }] },
      responses: { input: [{}, {}, { type: 'function_call_output', call_id: 'c', output: 'Error: no' }] },
      messages: {
        messages: [
          {},
          { content: [{ type: 'tool_use', input: {} }] },
          { content: [{ type: 'tool_result', tool_use_id: 'c', is_error: true }] },
        ],
      },
      gemini: {
        contents: [{}, {}, { parts: [{ functionResponse: { response: { error: 'no' } } }] }],
      },
    },
  ],
];
