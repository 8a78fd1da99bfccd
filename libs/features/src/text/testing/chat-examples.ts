import type { JsonObject } from '#contracts';
import type { Example } from './translation-example.js';
import { FOREIGN_PROOF, PROOF } from './reasoning-examples.js';

const PNG = 'data:image/png;base64,iVBORw0KGgo=';
const SCHEMA: JsonObject = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const TOOLS: JsonObject = { tools: [{ type: 'function', function: { name: 'f', parameters: SCHEMA } }] };
const FREE_FORM: JsonObject = { tools: [{ type: 'custom', custom: { name: 'apply_patch' } }] };
const SEARCH: JsonObject = { tools: [{ type: 'web_search' }] };
const QUESTION: JsonObject = { role: 'user', content: 'x' };
const CALL: JsonObject = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
const CALLED = [QUESTION, { role: 'assistant', content: null, tool_calls: [CALL] }];

const content = (...parts: JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content: parts }] });
const file = (type: string, data: string): JsonObject =>
  content({ type: 'file', file: { filename: 'x', file_data: `data:${type};base64,${data}` } });
const result = (sent: JsonObject[] | string): JsonObject => ({
  messages: [...CALLED, { role: 'tool', tool_call_id: 'c', content: sent }],
});
const patched = (output: string): JsonObject => ({
  messages: [
    QUESTION,
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'apply_patch', input: '*** Begin' } }],
    },
    { role: 'tool', tool_call_id: 'c', content: output },
  ],
});
const reasoned = (signature: string): JsonObject => {
  const detail = { type: 'reasoning.text', text: 'deep', signature };
  return {
    messages: [QUESTION, { role: 'assistant', content: null, tool_calls: [CALL], reasoning_details: [detail] }],
  };
};
const text: JsonObject = { type: 'text', text: 'one' };
const image = (url: string): JsonObject => ({ type: 'image_url', image_url: { url } });

/** What a chat completion says with each feature. */
export const CHAT_EXAMPLES: Readonly<Record<string, Example>> = {
  'system prompt': { added: { messages: [{ role: 'developer', content: 'Be brief.' }, QUESTION] } },
  'system message in the middle': {
    given: result('y'),
    added: { messages: [...(result('y')['messages'] as JsonObject[]), { role: 'system', content: 'Be long.' }] },
  },
  'system prompt with images or files': {
    added: { messages: [{ role: 'system', content: [image(PNG)] }, QUESTION] },
  },
  'system prompt alone': { added: { messages: [{ role: 'system', content: 'Say hello.' }] } },
  'conversation that begins with a model turn': {
    added: { messages: [{ role: 'assistant', content: 'Hi.' }, QUESTION] },
  },
  'several texts and images in one message': { added: content(text, image(PNG), { type: 'text', text: 'two' }) },
  'image by URL': { added: content(image('https://a.example/1.png')) },
  'image inline': { added: content(image(PNG)) },
  'PDF inline': { added: file('application/pdf', 'JVBERi0=') },
  'name of a file': {
    given: content({ type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=' } }),
    added: file('application/pdf', 'JVBERi0='),
  },
  'text file': { added: file('text/plain', Buffer.from('plain words').toString('base64')) },
  audio: { added: content({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }) },
  functions: { added: TOOLS },
  'strict functions': {
    given: TOOLS,
    added: { tools: [{ type: 'function', function: { name: 'f', parameters: SCHEMA, strict: true } }] },
  },
  'tool choice: none, any, or one function': { given: TOOLS, added: { tool_choice: 'required' } },
  'required tool choice without tools': { added: { tool_choice: 'required' } },
  'tool choice of an unknown function': {
    given: TOOLS,
    added: { tool_choice: { type: 'function', function: { name: 'h' } } },
  },
  'tool choice among a subset': {
    given: { tools: [...(TOOLS['tools'] as JsonObject[]), { type: 'function', function: { name: 'g' } }] },
    added: {
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
      },
    },
  },
  'no parallel tool calls': { given: TOOLS, added: { parallel_tool_calls: false } },
  'free-form tools and namespaces': { added: FREE_FORM },
  'hosted tool, offered beside other tools': { added: SEARCH },
  'hosted tool, required': { added: { ...SEARCH, tool_choice: 'required' } },
  'calls and results of earlier turns': { added: result('y') },
  'calls of free-form tools in earlier turns': { added: patched('y') },
  'tool choice of a free-form tool': {
    given: FREE_FORM,
    added: { tool_choice: { type: 'custom', custom: { name: 'apply_patch' } } },
  },
  'image in a tool result': { given: result([text]), added: result([text, image(PNG)]) },
  'file in a tool result': {
    given: result([text]),
    added: result([text, { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=' } }]),
  },
  'reasoning signed by the same vendor': { given: { messages: CALLED }, added: reasoned(PROOF) },
  'reasoning signed by another vendor': { given: { messages: CALLED }, added: reasoned(FOREIGN_PROOF) },
  'NUL and lone surrogates': { added: { messages: [{ role: 'user', content: 'a\0\ud83d' }] } },
  'JSON schema of the reply': {
    added: { response_format: { type: 'json_schema', json_schema: { name: 'place', schema: SCHEMA } } },
  },
  'description of the JSON schema': {
    given: { response_format: { type: 'json_schema', json_schema: { name: 'place', schema: SCHEMA } } },
    added: {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'place', description: 'Where it is.', schema: SCHEMA },
      },
    },
  },
  'JSON mode without a schema': { added: { response_format: { type: 'json_object' } } },
  'output limit': { added: { max_completion_tokens: 77 } },
  'stop sequences': { added: { stop: ['END'] } },
  'temperature up to 1': { added: { temperature: 0.25 } },
  'temperature over 1': { added: { temperature: 1.5 } },
  top_p: { added: { top_p: 0.25 } },
  top_k: { added: { top_k: 7 } },
  seed: { added: { seed: 7 } },
  penalties: { added: { presence_penalty: 0.5, frequency_penalty: 0.5 } },
  'reasoning effort or budget': { added: { reasoning_effort: 'high' } },
  'no reasoning': { added: { reasoning_effort: 'none' } },
  'adaptive reasoning': { added: { enable_thinking: true } },
  'reasoning level': { added: { reasoning: { effort: 'high' } } },
  logprobs: { added: { logprobs: true, top_logprobs: 3 } },
  'image or audio output': { added: { modalities: ['text', 'audio'] } },
  'end user id': { added: { user: 'user-7' } },
  'prompt cache key': { added: { prompt_cache_key: 'k' } },
  'store, and prompt cache retention': { added: { store: true, prompt_cache_retention: '24h' } },
  'service tier at the usual price': { added: { service_tier: 'default' } },
  'automatic service tier': { added: { service_tier: 'auto' } },
  'metadata, labels': { added: { metadata: { a: 'b' } } },
  verbosity: { added: { verbosity: 'low' } },
  'moderation by the vendor': { added: { moderation: { model: 'a-moderation-model' } } },
  'prompt cache breakpoints': {
    added: {
      messages: [{ role: 'user', content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }] }],
      cache_control: { type: 'ephemeral' },
      prompt_cache_options: { mode: 'explicit' },
    },
    given: content({ type: 'text', text: 'x' }),
  },
  'media resolution': {
    given: content(image(PNG)),
    added: content({ type: 'image_url', image_url: { url: PNG, detail: 'low' } }),
  },
  'prefilled reply': { added: { messages: [QUESTION, { role: 'assistant', content: '{"city":' }] } },
  'whether reasoning is shown': {
    given: { reasoning_effort: 'high' },
    added: { include_reasoning: true, reasoning_format: 'parsed', reasoning_split: true, preserve_thinking: true },
  },
  'citations of earlier replies': {
    given: { messages: [QUESTION, { role: 'assistant', content: 'y' }, QUESTION] },
    added: {
      messages: [
        QUESTION,
        {
          role: 'assistant',
          content: 'y',
          annotations: [
            {
              type: 'url_citation',
              url_citation: { url: 'https://a.example/', title: 'A', start_index: 0, end_index: 1 },
            },
          ],
        },
        QUESTION,
      ],
    },
  },
  'participant name': { added: { messages: [{ ...QUESTION, name: 'Ann' }] } },
  'several replies at once': { added: { n: 2 } },
  'logit bias': { added: { logit_bias: { '50256': -100 } } },
  'legacy functions': { added: { functions: [{ name: 'f', parameters: SCHEMA }], function_call: { name: 'f' } } },
  'calls and results of legacy functions': {
    added: {
      messages: [
        QUESTION,
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
        { role: 'function', name: 'f', content: 'y' },
      ],
    },
  },
  'legacy functions beside tools': { given: TOOLS, added: { functions: [{ name: 'g' }] } },
  'web search as an option': { added: { web_search_options: {} } },
  'guided decoding and length constraints of a server': { added: { guided_choice: ['yes', 'no'] } },
  'other sampling parameters': {
    added: { min_p: 0.1, top_a: 0.1, typical_p: 0.9, repetition_penalty: 1.1, length_penalty: 1.1 },
  },
  'vendor-specific switches': {
    added: { safe_prompt: true, prompt_mode: 'reasoning', skip_special_tokens: true, chat_template_kwargs: { a: 'b' } },
  },
  'predicted output': { added: { prediction: { type: 'content', content: 'y' } } },
};
