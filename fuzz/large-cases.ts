import {
  BODY_BYTES,
  called,
  CALLS,
  chat,
  chatImage,
  document,
  embeddings,
  FILE_CHARACTERS,
  files,
  gemini,
  goOn,
  idOf,
  images,
  inputImage,
  json,
  KEPT_ITEM,
  type LargeCase,
  messages,
  MIB,
  MODEL_OVER,
  packed,
  provenContents,
  image,
  remembered,
  responses,
  role,
  schema,
  text,
  valuesIn,
  TURNS,
  turns,
  VERSION,
} from './large-requests.js';
import { LARGE_SCHEMAS } from './large-schemas.js';
import { LARGE_TEXTS } from './large-texts.js';

/** Every way that a large body can take. */
export const LARGE_CASES: readonly LargeCase[] = [
  messages('files, native', MODEL_OVER.messages, () => files(document)),
  messages('files, native, repeatable', MODEL_OVER.messages, () => files(document), {}, { 'idempotency-key': 'a-1' }),
  messages('files, native, no limit named', MODEL_OVER.messages, () => files(document), { max_tokens: undefined }),
  messages('files, native, a field left out', MODEL_OVER.messages, () => files(document), { some_new_field: 1 }),
  messages('files, native, signed elsewhere', MODEL_OVER.messages, () => [
    ...files(document),
    { type: 'text', text: '"gemini:' },
  ]),
  ...(['responses', 'chat', 'gemini', 'sandbox'] as const).map((protocol) =>
    messages(`images to ${protocol}`, MODEL_OVER[protocol], () => files(image)),
  ),
  messages('documents to responses', MODEL_OVER.responses, () => files(document)),
  messages('a file that is none at its end', MODEL_OVER.messages, () =>
    files((data) => document(`${data.slice(4)}!AAA`)),
  ),
  messages('files with line ends', MODEL_OVER.messages, () =>
    files((data) => document(`${data.slice(0, 76)}\n`.repeat(FILE_CHARACTERS / 80))),
  ),
  responses('images, native', MODEL_OVER.responses, () => files(inputImage)),
  responses('images, native, stored', MODEL_OVER.responses, () => files(inputImage), { store: true }),
  responses('images to messages, stored', MODEL_OVER.messages, () => files(inputImage), { store: true }),
  responses('a text, native', MODEL_OVER.responses, () => text('all words '), { store: true }),
  responses('a text to chat', MODEL_OVER.chat, () => text('all words ')),
  responses('a text to the sandbox', MODEL_OVER.sandbox, () => text('all words ')),
  responses('a text of Chinese to chat', MODEL_OVER.chat, () => text('中文')),
  responses('a text of escapes to chat', MODEL_OVER.chat, () => '\n'.repeat(BODY_BYTES / 2)),
  responses('half of a pair at the end', MODEL_OVER.chat, () => `${'é'.repeat(BODY_BYTES / 2)}\ud800`),
  responses('an address', MODEL_OVER.chat, () => [{ type: 'input_image', image_url: `https://${text('a.')}` }]),
  responses(
    'instructions to chat',
    MODEL_OVER.chat,
    () => 'hello',
    { store: true },
    () => ({ instructions: text('be brief ') }),
  ),
  responses(
    'instructions, streamed',
    MODEL_OVER.chat,
    () => 'hello',
    { stream: true },
    () => ({ instructions: text('be brief ') }),
  ),
  responses(
    'metadata to chat',
    MODEL_OVER.chat,
    () => 'hello',
    { store: true },
    () => ({ metadata: { a: text('be brief ') } }),
  ),
  responses(
    'tools that are long to chat',
    MODEL_OVER.chat,
    () => 'hello',
    { store: true },
    () => ({
      tools: [{ type: 'function', name: 'f', description: text('it does '), parameters: { type: 'object' } }],
    }),
  ),
  responses(
    'a schema of tools to chat',
    MODEL_OVER.chat,
    () => 'hello',
    { store: true },
    () => ({
      tools: [{ type: 'function', name: 'f', parameters: schema() }],
    }),
  ),
  ...(['responses', 'chat', 'messages', 'gemini'] as const).map((protocol): LargeCase => ({
    ...responses(`many turns to ${protocol}`, MODEL_OVER[protocol], () => []),
    body: () =>
      json({
        model: MODEL_OVER[protocol],
        max_output_tokens: 16,
        input: turns((place) => ({ role: role(place), content: 'hi' })),
      }),
  })),
  ...(['responses', 'chat', 'messages', 'gemini'] as const).flatMap((protocol) =>
    ([1, CALLS] as const).flatMap((calls) => [
      chat(
        `arguments of many values in ${calls} calls to ${protocol}`,
        MODEL_OVER[protocol],
        () => 'hello',
        () => ({ messages: called(calls, valuesIn(BODY_BYTES / calls)) }),
      ),
      chat(
        `proofs of many values at ${calls} calls to ${protocol}`,
        MODEL_OVER[protocol],
        () => 'hello',
        () => ({ messages: called(calls, '{}', `chat:details:${packed(valuesIn((BODY_BYTES * 0.74) / calls))}`) }),
      ),
    ]),
  ),
  ...([1, CALLS] as const).flatMap((calls) =>
    (['proofs', 'results'] as const).map((what) =>
      gemini(
        `${what} of many values at ${calls} calls to messages`,
        () => ({ contents: provenContents(calls, what) }),
        'messages',
      ),
    ),
  ),
  remembered(
    'a long conversation goes on',
    (answer) => goOn({ previous_response_id: idOf(answer), input: 'And now?' }),
    () => text('all words '),
  ),
  remembered(
    'a long item is referred to',
    () => goOn({ input: [{ type: 'item_reference', id: KEPT_ITEM }] }),
    () => text('all words '),
  ),
  remembered(
    'a response is read',
    (answer) => ({ method: 'GET', path: `/v1/responses/${idOf(answer)}` }),
    () => text('all words '),
  ),
  remembered(
    'what a response was made from is listed',
    (answer) => ({ method: 'GET', path: `/v1/responses/${idOf(answer)}/input_items` }),
    () => text('all words '),
  ),
  ...(['chat', 'responses'] as const).map((protocol): LargeCase => ({
    ...responses(`images are compacted over ${protocol}`, MODEL_OVER[protocol], () => files(inputImage)),
    path: '/v1/responses/compact',
  })),
  {
    ...remembered(
      'a conversation of many turns goes on',
      (answer) => goOn({ previous_response_id: idOf(answer), input: 'And now?' }),
      () => '',
    ),
    body: () =>
      json({
        model: MODEL_OVER.chat,
        max_output_tokens: 16,
        input: turns((place) => ({ role: role(place), content: 'hi' })),
      }),
  },
  chat('chat: images, native', MODEL_OVER.chat, () => files(chatImage)),
  chat('chat: images to messages', MODEL_OVER.messages, () => files(chatImage)),
  chat('chat: a text, native', MODEL_OVER.chat, () => text('all words ')),
  chat('chat: a text to responses', MODEL_OVER.responses, () => text('all words ')),
  chat(
    'chat: many turns, native',
    MODEL_OVER.chat,
    () => 'hi',
    () => ({
      messages: turns((place) => ({ role: role(place), content: [{ type: 'text', text: 'hi' }] })).slice(0, TURNS / 2),
    }),
  ),
  chat(
    'chat: many turns to messages',
    MODEL_OVER.messages,
    () => 'hi',
    () => ({
      messages: turns((place) => ({ role: role(place), content: [{ type: 'text', text: 'hi' }] })).slice(0, TURNS / 2),
    }),
  ),
  chat(
    'chat: a schema of tools to gemini',
    MODEL_OVER.gemini,
    () => 'hi',
    () => ({
      tools: [{ type: 'function', function: { name: 'f', parameters: schema() } }],
    }),
  ),
  embeddings('embeddings: one text', () => text('all words ')),
  embeddings('embeddings: texts of 700 bytes', () => Array.from({ length: 80_000 }, () => 'all words '.repeat(70))),
  embeddings('embeddings: many words', () => Array.from({ length: 99_000 }, () => 'a word')),
  embeddings('embeddings: tokens', () => [Array.from({ length: 99_000 }, (_, place) => place)]),
  messages('a text of messages', MODEL_OVER.messages, () => text('all words ')),
  messages('a text of messages to chat', MODEL_OVER.chat, () => text('all words ')),
  gemini('a text of gemini', () => ({ contents: [{ parts: [{ text: text('all words ') }] }] })),
  gemini('files of gemini, native', () => ({
    contents: [{ parts: files((data) => ({ inlineData: { mimeType: 'image/png', data } })) }],
  })),
  gemini('files of gemini, limit added within', () => ({
    contents: [{ parts: files((data) => ({ inlineData: { mimeType: 'image/png', data } })) }],
    generationConfig: { temperature: 1 },
  })),
  {
    name: 'a text to count',
    path: '/v1/messages/count_tokens',
    body: () => json({ model: MODEL_OVER.messages, messages: [{ role: 'user', content: text('all words ') }] }),
    headers: VERSION,
  },
  {
    name: 'images of a task',
    path: '/v1/images/generations',
    body: () => json({ model: 'kappa-b-4.0', prompt: 'waves', image_urls: images() }),
  },
  {
    name: 'an image of a video',
    path: '/v1/videos/generations',
    body: () => json({ model: 'beta-2.7', prompt: 'waves', image_urls: images().slice(0, 1) }),
  },
  {
    name: 'tasks with images are listed',
    path: '/v1/images/generations',
    body: () => json({ model: 'kappa-b-4.0', prompt: 'waves', image_urls: images() }),
    next: () => ({ method: 'GET', path: '/v1/tasks' }),
  },
  {
    name: 'images to be priced',
    path: '/v1/quote',
    body: () => json({ model: 'kappa-b-4.0', prompt: 'waves', image_urls: images() }),
  },
  {
    name: 'a prompt',
    path: '/v1/videos/generations',
    body: () => json({ model: 'beta-2.5-preview', prompt: text('wave '), resolution: '480p' }),
  },
  {
    name: 'an operator',
    path: '/admin/v1/accounts',
    body: () => json({ name: 'a'.repeat(MIB - 100) }),
    byOperator: true,
  },
  {
    name: 'an operator that sends too much',
    path: '/admin/v1/accounts',
    body: () => json(text('a')),
    byOperator: true,
  },
  { name: 'a sign-in', path: '/console/api/sign-in/operator', body: () => json(text('a')) },
  ...LARGE_SCHEMAS,
  ...LARGE_TEXTS,
];
