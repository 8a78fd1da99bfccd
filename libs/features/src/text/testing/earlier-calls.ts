import type { JsonObject } from '#contracts';

/** An earlier call. */
export const CALLED = {
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

/** The call with what it returned, in the messages, content-generation and responses style. */
export const result = (added: JsonObject): JsonObject => ({
  messages: [...CALLED.messages, { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', ...added }] }],
});
export const response = (added: JsonObject): JsonObject => ({
  contents: [...CALLED.gemini, { role: 'user', parts: [{ functionResponse: { id: 'c', name: 'f', ...added } }] }],
});
export const output = (sent: JsonObject[] | string): JsonObject => ({
  input: [...CALLED.responses, { type: 'function_call_output', call_id: 'c', output: sent }],
});
