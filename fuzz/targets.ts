/** The sender of a body: the holder of a key by default; `admin` and `owner` are people in the console. */
export type Sender = 'key' | 'operator' | 'admin' | 'owner' | 'visitor';

/** A route that takes a body, with one that it accepts. Words in braces stand for ids that there are (`People.ids`). */
export interface Target {
  readonly method: 'POST' | 'PUT' | 'PATCH';
  readonly path: string;
  readonly good: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly as?: Sender;
}

const IMAGE = {
  model: 'eta-image-2.0',
  prompt: 'a lighthouse',
  size: '1:1',
  resolution: '1K',
  image_urls: ['https://files.example.com/a.png'],
  webhook_url: 'https://hooks.example.com/a',
};
const EDIT = { model: 'iota-1.0-edit-reseller', prompt: 'at night', image_urls: ['https://files.example.com/a.png'] };
export const VIDEO = { model: 'beta-2.5-preview', prompt: 'waves', resolution: '480p', size: '16:9', duration: 5 };
const SCHEMA = { type: 'object', properties: { place: { type: 'string' }, Place: { type: 'number' } } };
export const RESPONSES = {
  model: 'vendor-5',
  max_output_tokens: 16,
  input: [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'hello' },
        { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
      ],
    },
    { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"place":"here"}' },
    { type: 'function_call_output', call_id: 'c1', output: 'fine' },
  ],
  tools: [
    { type: 'function', name: 'f', parameters: SCHEMA },
    { type: 'file_search', vector_store_ids: ['{store}'], filters: { type: 'eq', key: 'Year', value: 1871 } },
  ],
  reasoning: { effort: 'low' },
  metadata: { Any: '1', any: '2' },
  store: false,
};
export const MESSAGES = {
  model: 'vendor-haiku-4-5-20251001',
  max_tokens: 16,
  system: [{ type: 'text', text: 'be brief' }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'hello' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
      ],
    },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'f', input: { place: 'here' } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'fine' }] },
  ],
  tools: [{ name: 'f', input_schema: SCHEMA }],
};
export const CHAT = {
  model: 'vendor-5',
  max_completion_tokens: 16,
  messages: [
    { role: 'developer', content: 'be brief' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'hello' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"place":"here"}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'fine' },
  ],
  tools: [{ type: 'function', function: { name: 'f', parameters: SCHEMA } }],
  reasoning_effort: 'low',
};
const GEMINI = {
  contents: [
    { role: 'user', parts: [{ text: 'hello' }, { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }] },
  ],
  generation_config: { max_output_tokens: 16 },
  tools: [{ functionDeclarations: [{ name: 'f', parameters: SCHEMA }] }],
};
const STORE = {
  name: 'harbour',
  metadata: { Any: '1', any: '2' },
  expires_after: { anchor: 'last_active_at', days: 7 },
};
const SEARCH = {
  query: 'the keeper of the lighthouse',
  filters: { type: 'and', filters: [{ type: 'eq', key: 'Year', value: 1871 }] },
  max_num_results: 5,
  ranking_options: { score_threshold: 0.2 },
};
const VERSION = { 'anthropic-version': '2023-06-01' };

const post = (path: string, good: unknown, headers = {}): Target => ({ method: 'POST', path, good, headers });

/** Every public route that takes a body. `bodies.spec.ts` compares the list with the routes of a gateway. */
export const TARGETS: readonly Target[] = [
  post('/v1/responses', RESPONSES),
  post('/v1/responses/compact', RESPONSES),
  post('/v1/responses/input_tokens', RESPONSES),
  post('/v1/responses/{response}/cancel', {}),
  post('/v1/chat/completions', CHAT),
  post('/chat/completions', CHAT),
  post('/v1/embeddings', { model: 'vendor-5', input: ['one', 'two'] }),
  post('/v1/messages', MESSAGES, VERSION),
  post('/v1/messages/count_tokens', { ...MESSAGES, max_tokens: undefined }, VERSION),
  post('/v1beta/models/vendor-2.5-flash:generateContent', GEMINI),
  post('/v1beta/models/vendor-2.5-flash:streamGenerateContent', GEMINI),
  post('/v1/images/generations', IMAGE),
  post('/v1/images/edits', EDIT),
  post('/v1/videos/generations', VIDEO),
  post('/v1/quote', VIDEO),
  post('/v1/tasks/batch', { task_ids: ['{task}'] }),
  post('/v1/tasks/{task}/cancel', {}),
  post('/v1/webhooks/endpoints', { url: 'https://hooks.example.com/a' }),
  post('/v1/webhooks/endpoints/{endpoint}/test', {}),
  post('/v1/webhooks/endpoints/{endpoint}/rotate-secret', {}),
  post('/v1/webhooks/signing-secret/rotate', {}),
  post('/v1/webhooks/deliveries/msg_1/resend', {}),
  post('/v1/vector_stores', STORE),
  post('/v1/vector_stores/{store}', STORE),
  post('/v1/vector_stores/{store}/search', SEARCH),
  post('/v1/vector_stores/{store}/files', { file_id: '{file}', attributes: { Year: 1871 } }),
  post('/v1/vector_stores/{store}/files/{file}', { attributes: { Year: 1871, year: 'that' } }),
  post('/v1/vector_stores/{store}/file_batches', { file_ids: ['{file}'] }),
  post('/v1/vector_stores/{store}/file_batches/{batch}/cancel', {}),
];
