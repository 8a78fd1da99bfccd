const MIB = 1024 * 1024;
/** The longest base64 that an inline file may have: 20 MiB decoded. */
const FILE_CHARACTERS = Math.floor((20 * MIB) / 3) * 4;
/** What a body may hold in all with the fields around it. */
const BODY_BYTES = 60 * 1000 * 1000;

/** A large body and where it goes. Each is made when it is needed: together they take more than a gigabyte. */
export interface LargeCase {
  readonly name: string;
  readonly path: string;
  readonly body: () => Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent with the operator's token in the place of a key. */
  readonly byOperator?: boolean;
}

const FILES = 2;
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const files = <Block>(block: (data: string) => Block): Block[] =>
  Array.from({ length: FILES }, (_, index) => block('ABCD'[index]?.repeat(FILE_CHARACTERS - 4).concat('AAAA') ?? ''));

const VERSION = { 'anthropic-version': '2023-06-01' };
const message = (model: string, content: unknown, more: object = {}) => ({
  model,
  max_tokens: 8,
  messages: [{ role: 'user', content }],
  ...more,
});
const document = (data: string) => ({
  type: 'document',
  source: { type: 'base64', media_type: 'application/pdf', data },
});
const picture = (data: string) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } });
const inputImage = (data: string) => ({ type: 'input_image', image_url: `data:image/png;base64,${data}` });

/** Bytes that begin as a PNG of 64 x 64 pixels. */
function png(characters: number): string {
  const head = Buffer.from('89504e470d0a1a0a0000000d49484452000000400000004008020000002512', 'hex');
  return head.toString('base64').slice(0, 40).padEnd(characters, 'A');
}

const messages = (name: string, model: string, content: () => unknown, more: object = {}, headers = {}): LargeCase => ({
  name,
  path: '/v1/messages',
  body: () => json(message(model, content(), more)),
  headers: { ...VERSION, ...headers },
});
const responses = (name: string, model: string, content: () => unknown, more: object = {}): LargeCase => ({
  name,
  path: '/v1/responses',
  body: () =>
    json({ model, max_output_tokens: 16, store: false, input: [{ role: 'user', content: content() }], ...more }),
});

/** The models that lead to an upstream of each protocol. */
export const MODEL_OVER = {
  responses: 'vendor-5',
  chat: 'vendor-4o-image',
  messages: 'vendor-haiku-4-5-20251001',
  gemini: 'vendor-2.5-flash',
  sandbox: 'vendor-4-vision',
} as const;

const text = (unit: string): string => unit.repeat(BODY_BYTES / Buffer.byteLength(unit));
const images = () => Array.from({ length: 4 }, () => `data:image/png;base64,${png(FILE_CHARACTERS / 2)}`);

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
    messages(`pictures to ${protocol}`, MODEL_OVER[protocol], () => files(picture)),
  ),
  messages('documents to responses', MODEL_OVER.responses, () => files(document)),
  messages('a file that is none at its end', MODEL_OVER.messages, () =>
    files((data) => document(`${data.slice(4)}!AAA`)),
  ),
  messages('files with line ends', MODEL_OVER.messages, () =>
    files((data) => document(`${data.slice(0, 76)}\n`.repeat(FILE_CHARACTERS / 80))),
  ),
  responses('pictures, native', MODEL_OVER.responses, () => files(inputImage)),
  responses('pictures, native, stored', MODEL_OVER.responses, () => files(inputImage), { store: true }),
  responses('pictures to messages, stored', MODEL_OVER.messages, () => files(inputImage), { store: true }),
  responses('a text, native', MODEL_OVER.responses, () => text('all words '), { store: true }),
  responses('a text to chat', MODEL_OVER.chat, () => text('all words ')),
  responses('a text to the sandbox', MODEL_OVER.sandbox, () => text('all words ')),
  responses('a text of Chinese to chat', MODEL_OVER.chat, () => text('中文')),
  responses('a text of escapes to chat', MODEL_OVER.chat, () => '\n'.repeat(BODY_BYTES / 2)),
  responses('half of a pair at the end', MODEL_OVER.chat, () => `${'é'.repeat(BODY_BYTES / 2)}\ud800`),
  responses('an address', MODEL_OVER.chat, () => [{ type: 'input_image', image_url: `https://${text('a.')}` }]),
  {
    name: 'files of gemini, native',
    path: `/v1beta/models/${MODEL_OVER.gemini}:generateContent`,
    body: () => json({ contents: [{ parts: files((data) => ({ inlineData: { mimeType: 'image/png', data } })) }] }),
  },
  {
    name: 'files of gemini, limit added within',
    path: `/v1beta/models/${MODEL_OVER.gemini}:generateContent`,
    body: () =>
      json({
        contents: [{ parts: files((data) => ({ inlineData: { mimeType: 'image/png', data } })) }],
        generationConfig: { temperature: 1 },
      }),
  },
  {
    name: 'a text to count',
    path: '/v1/messages/count_tokens',
    body: () => json({ model: MODEL_OVER.messages, messages: [{ role: 'user', content: text('all words ') }] }),
    headers: VERSION,
  },
  {
    name: 'pictures of a task',
    path: '/v1/images/generations',
    body: () => json({ model: 'kappa-b-4.0', prompt: 'waves', image_urls: images() }),
  },
  {
    name: 'pictures to be priced',
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
  { name: 'an operator who sends too much', path: '/admin/v1/accounts', body: () => json(text('a')), byOperator: true },
  { name: 'a form', path: '/ops/sign-in', body: () => json(text('a')) },
];
