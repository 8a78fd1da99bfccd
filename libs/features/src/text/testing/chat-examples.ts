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
  'system prompt that holds more than words': {
    added: { messages: [{ role: 'system', content: [image(PNG)] }, QUESTION] },
  },
  'system prompt alone': { added: { messages: [{ role: 'system', content: 'Say hello.' }] } },
  'conversation that the model begins': { added: { messages: [{ role: 'assistant', content: 'Hi.' }, QUESTION] } },
  'several texts and images in one message': { added: content(text, image(PNG), { type: 'text', text: 'two' }) },
  'image by URL': { added: content(image('https://a.example/1.png')) },
  'image inline': { added: content(image(PNG)) },
  'PDF inline': { added: file('application/pdf', 'JVBERi0=') },
  'name of a file': {
    given: content({ type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=' } }),
    added: file('application/pdf', 'JVBERi0='),
  },
  'text file': { added: file('text/plain', Buffer.from('plain words').toString('base64')) },
  sound: { added: content({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }) },
  functions: { added: TOOLS },
  'strict functions': {
    given: TOOLS,
    added: { tools: [{ type: 'function', function: { name: 'f', parameters: SCHEMA, strict: true } }] },
  },
  'no call, any call, or a call of one function': { given: TOOLS, added: { tool_choice: 'required' } },
  'call that must be made where there is nothing to call': { added: { tool_choice: 'required' } },
  'call of a function that is not among the tools': {
    given: TOOLS,
    added: { tool_choice: { type: 'function', function: { name: 'h' } } },
  },
  'some of the functions': {
    given: { tools: [...(TOOLS['tools'] as JsonObject[]), { type: 'function', function: { name: 'g' } }] },
    added: {
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
      },
    },
  },
  'one call at a time': { given: TOOLS, added: { parallel_tool_calls: false } },
  'free-form tools and namespaces': { added: FREE_FORM },
  'tool that the vendor runs, offered beside others': { added: SEARCH },
  'tool that the vendor runs, insisted on': { added: { ...SEARCH, tool_choice: 'required' } },
  'calls and results of earlier turns': { added: result('y') },
  'calls of free-form tools in earlier turns': { added: patched('y') },
  'one free-form tool that must be called': {
    given: FREE_FORM,
    added: { tool_choice: { type: 'custom', custom: { name: 'apply_patch' } } },
  },
  'image in a result': { given: result([text]), added: result([text, image(PNG)]) },
  'file in a result': {
    given: result([text]),
    added: result([text, { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=' } }]),
  },
  'reasoning that the same vendor proved': { given: { messages: CALLED }, added: reasoned(PROOF) },
  'reasoning that another vendor proved': { given: { messages: CALLED }, added: reasoned(FOREIGN_PROOF) },
  'NUL and halves of characters': { added: { messages: [{ role: 'user', content: 'a\0\ud83d' }] } },
  'JSON by a schema': {
    added: { response_format: { type: 'json_schema', json_schema: { name: 'place', schema: SCHEMA } } },
  },
  'description of the answer that a schema is for': {
    given: { response_format: { type: 'json_schema', json_schema: { name: 'place', schema: SCHEMA } } },
    added: {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'place', description: 'Where it is.', schema: SCHEMA },
      },
    },
  },
  'any JSON': { added: { response_format: { type: 'json_object' } } },
  'output limit': { added: { max_completion_tokens: 77 } },
  'stop sequences': { added: { stop: ['END'] } },
  'temperature up to 1': { added: { temperature: 0.25 } },
  'temperature over 1': { added: { temperature: 1.5 } },
  top_p: { added: { top_p: 0.25 } },
  top_k: { added: { top_k: 7 } },
  seed: { added: { seed: 7 } },
  penalties: { added: { presence_penalty: 0.5, frequency_penalty: 0.5 } },
  'effort or budget of reasoning': { added: { reasoning_effort: 'high' } },
  'no reasoning': { added: { reasoning_effort: 'none' } },
  'reasoning as the model sees fit': { added: { enable_thinking: true } },
  'level of reasoning': { added: { reasoning: { effort: 'high' } } },
  'odds of words': { added: { logprobs: true, top_logprobs: 3 } },
  'answer in images or sound': { added: { modalities: ['text', 'audio'] } },
  'name of the end user': { added: { user: 'user-7' } },
  'key of the prompt cache': { added: { prompt_cache_key: 'k' } },
  'storing, and how long a prompt cache is kept': { added: { store: true, prompt_cache_retention: '24h' } },
  'service tier at the usual price': { added: { service_tier: 'default' } },
  'service tier that the account of the vendor decides': { added: { service_tier: 'auto' } },
  'metadata, labels': { added: { metadata: { a: 'b' } } },
  verbosity: { added: { verbosity: 'low' } },
  'moderation by the vendor': { added: { moderation: { model: 'a-moderation-model' } } },
  'marks for the prompt cache': {
    added: {
      messages: [{ role: 'user', content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }] }],
      cache_control: { type: 'ephemeral' },
      prompt_cache_options: { mode: 'explicit' },
    },
    given: content({ type: 'text', text: 'x' }),
  },
  'resolution of media': {
    given: content(image(PNG)),
    added: content({ type: 'image_url', image_url: { url: PNG, detail: 'low' } }),
  },
  'reply that is begun': { added: { messages: [QUESTION, { role: 'assistant', content: '{"city":' }] } },
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
  'name of who speaks': { added: { messages: [{ ...QUESTION, name: 'Ann' }] } },
  'several replies at once': { added: { n: 2 } },
  'bias of tokens': { added: { logit_bias: { '50256': -100 } } },
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
  'search of the web by an option': { added: { web_search_options: {} } },
  'forms, lengths and words that a server enforces': { added: { guided_choice: ['yes', 'no'] } },
  'further ways of sampling': {
    added: { min_p: 0.1, top_a: 0.1, typical_p: 0.9, repetition_penalty: 1.1, length_penalty: 1.1 },
  },
  'switches of one vendor': {
    added: { safe_prompt: true, prompt_mode: 'reasoning', skip_special_tokens: true, chat_template_kwargs: { a: 'b' } },
  },
  'predicted answer': { added: { prediction: { type: 'content', content: 'y' } } },
};
