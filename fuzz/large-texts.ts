import {
  BODY_BYTES,
  CALLS,
  chat,
  gemini,
  json,
  type LargeCase,
  MODEL_OVER,
  text,
  valuesIn,
  VERSION,
} from './large-requests.js';

const PROTOCOLS = ['responses', 'chat', 'messages', 'gemini'] as const;

const words = (): string => text('all words ');
const parameters = () => ({ type: 'object', properties: { a: { type: 'string', description: words() } } });
const answering = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content });
const calling = (id: string, written: string) => ({
  role: 'assistant',
  tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: written } }],
});

/** A chat conversation with one call, what it was made with and what it returned. */
const oneCall = (written: string, returned: string) => [
  { role: 'user', content: 'hello' },
  calling('call_1', written),
  answering('call_1', returned),
];

/** Many calls that each returned JSON that takes long to parse. */
const manyResults = (calls: number) => [
  { role: 'user', content: 'hello' },
  ...Array.from({ length: calls }, (_, place) => [
    calling(`call_${place}`, '{}'),
    answering(`call_${place}`, valuesIn(BODY_BYTES / calls)),
  ]).flat(),
];

/** The same in the other styles, with the call's arguments as an object. */
const usedTool = (input: object) => [
  { role: 'user', content: 'hello' },
  { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'f', input }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'done' }] },
];
const calledFunction = (args: object, response: object) => [
  { role: 'user', parts: [{ text: 'hello' }] },
  { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'f', args } }] },
  { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'f', response } }] },
];

/** A single long text within what is written or read as JSON of its own. */
export const LARGE_TEXTS: readonly LargeCase[] = PROTOCOLS.flatMap((protocol) => [
  ...[1, 60, CALLS].map((calls) =>
    chat(
      `JSON of many values in ${calls} results to ${protocol}`,
      MODEL_OVER[protocol],
      () => 'hello',
      () => ({ messages: manyResults(calls) }),
    ),
  ),
  chat(
    `a text in arguments to ${protocol}`,
    MODEL_OVER[protocol],
    () => 'hello',
    () => ({ messages: oneCall(JSON.stringify({ a: words() }), 'done') }),
  ),
  chat(
    `a text in a result to ${protocol}`,
    MODEL_OVER[protocol],
    () => 'hello',
    () => ({ messages: oneCall('{}', words()) }),
  ),
  chat(
    `a text in JSON of a result to ${protocol}`,
    MODEL_OVER[protocol],
    () => 'hello',
    () => ({ messages: oneCall('{}', JSON.stringify({ a: words() })) }),
  ),
  chat(
    `a text in a schema of tools to ${protocol}`,
    MODEL_OVER[protocol],
    () => 'hello',
    () => ({ tools: [{ type: 'function', function: { name: 'f', parameters: parameters() } }] }),
  ),
  chat(
    `a text in a schema of the answer to ${protocol}`,
    MODEL_OVER[protocol],
    () => 'hello',
    () => ({ response_format: { type: 'json_schema', json_schema: { name: 'f', schema: parameters() } } }),
  ),
  {
    name: `a text in the input of a tool to ${protocol}`,
    path: '/v1/messages',
    body: () => json({ model: MODEL_OVER[protocol], max_tokens: 8, messages: usedTool({ a: words() }) }),
    headers: VERSION,
  },
  {
    name: `a text in the input of a free-form tool to ${protocol}`,
    path: '/v1/responses',
    body: () =>
      json({
        model: MODEL_OVER[protocol],
        max_output_tokens: 16,
        store: false,
        input: [
          { role: 'user', content: 'hello' },
          { type: 'custom_tool_call', call_id: 'c1', name: 'f', input: words() },
          { type: 'custom_tool_call_output', call_id: 'c1', output: 'done' },
        ],
        tools: [{ type: 'custom', name: 'f' }],
      }),
  },
  gemini(`a text in args to ${protocol}`, () => ({ contents: calledFunction({ a: words() }, {}) }), protocol),
  gemini(`a text in a response to ${protocol}`, () => ({ contents: calledFunction({}, { a: words() }) }), protocol),
]);
