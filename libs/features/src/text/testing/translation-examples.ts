import type { JsonObject } from '#contracts';
import { blocks, MEDIA_EXAMPLES, parts, PNG } from './media-examples.js';
import type { Example, Examples } from './translation-example.js';

const SCHEMA: JsonObject = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

const config = (generationConfig: JsonObject): JsonObject => ({ generationConfig });

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
  'no call, any call, or a call of one function': {
    responses: { given: FUNCTION.responses, added: { tool_choice: { type: 'function', name: 'f' } } },
    messages: { given: FUNCTION.messages, added: { tool_choice: { type: 'tool', name: 'f' } } },
    gemini: {
      given: FUNCTION.gemini,
      added: { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } } },
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
  'JSON by a schema': {
    responses: { added: { text: { format: { type: 'json_schema', name: 'place', schema: SCHEMA } } } },
    messages: { added: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } } },
    gemini: {
      added: config({
        responseMimeType: 'application/json',
        responseSchema: { type: 'OBJECT', properties: { city: { type: 'STRING', nullable: true } } },
      }),
    },
  },
  'any JSON': {
    responses: { added: { text: { format: { type: 'json_object' } } } },
    gemini: { added: config({ responseMimeType: 'application/json' }) },
  },
  'one word of a list': {
    gemini: { added: config({ responseMimeType: 'text/x.enum', responseSchema: { type: 'STRING', enum: ['a'] } }) },
  },
  'output limit': {
    responses: { added: { max_output_tokens: 77 } },
    messages: { added: { max_tokens: 77 } },
    gemini: { added: config({ maxOutputTokens: 77 }) },
  },
  'stop sequences': {
    responses: { added: { stop: ['END'] } },
    messages: { added: { stop_sequences: ['END'] } },
    gemini: { added: config({ stopSequences: ['END'] }) },
  },
  'temperature up to 1': {
    responses: { added: { temperature: 0.25 } },
    messages: { added: { temperature: 0.25 } },
    gemini: { added: config({ temperature: 0.25 }) },
  },
  'temperature over 1': {
    responses: { added: { temperature: 1.5 } },
    gemini: { added: config({ temperature: 1.5 }) },
  },
  top_p: {
    responses: { added: { top_p: 0.25 } },
    messages: { added: { top_p: 0.25 } },
    gemini: { added: config({ topP: 0.25 }) },
  },
  top_k: { messages: { added: { top_k: 7 } }, gemini: { added: config({ topK: 7 }) } },
  seed: { gemini: { added: config({ seed: 7 }) } },
  penalties: {
    responses: { added: { presence_penalty: 0.5, frequency_penalty: 0.5 } },
    gemini: { added: config({ presencePenalty: 0.5, frequencyPenalty: 0.5 }) },
  },
  'effort or budget of reasoning': {
    responses: { added: { reasoning: { effort: 'high', summary: 'auto' } } },
    messages: { added: { thinking: { type: 'enabled', budget_tokens: 8_000 }, max_tokens: 20_000 } },
    gemini: { added: config({ thinkingConfig: { includeThoughts: true, thinkingBudget: 8_000 } }) },
  },
  'odds of words': {
    responses: { added: { top_logprobs: 3, include: ['message.output_text.logprobs'] } },
    gemini: { added: config({ responseLogprobs: true, logprobs: 3 }) },
  },
  'answer in pictures or sound': { gemini: { added: config({ responseModalities: ['TEXT', 'IMAGE'] }) } },
  'cache made elsewhere, container': {
    messages: { added: { container: 'container_1' } },
    gemini: { added: { cachedContent: 'cachedContents/1' } },
  },
  'name of the end user': {
    responses: { added: { safety_identifier: 'user-7' } },
    messages: { added: { metadata: { user_id: 'user-7' } } },
  },
  'marks for the prompt cache': {
    messages: {
      given: blocks({ type: 'text', text: 'x' }),
      added: blocks({ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }),
    },
  },
  'key of the prompt cache': { responses: { added: { prompt_cache_key: 'k' } } },
  'metadata, labels': { responses: { added: { metadata: { a: 'b' } } }, gemini: { added: { labels: { a: 'b' } } } },
  verbosity: { responses: { added: { text: { verbosity: 'low' } } } },
  'truncation, context management': {
    responses: { added: { truncation: 'auto' } },
    messages: { added: { context_management: { edits: [] } } },
  },
  'most calls of tools that the vendor runs': { responses: { added: { max_tool_calls: 3 } } },
  'thresholds of safety filters': {
    gemini: { added: { safetySettings: [{ category: 'HARM_CATEGORY_HATE_SPEECH', threshold: 'BLOCK_NONE' }] } },
  },
  'resolution of media': { gemini: { added: config({ mediaResolution: 'MEDIA_RESOLUTION_LOW' }) } },
};
