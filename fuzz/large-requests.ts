// Parts of large bodies.
export const MIB = 1024 * 1024;
/** The longest base64 that an inline file may have: 20 MiB decoded. */
export const FILE_CHARACTERS = Math.floor((20 * MIB) / 3) * 4;
/** What a body may hold in all with the fields around it. */
export const BODY_BYTES = 60 * 1000 * 1000;

/** A large body and where it goes. Each is made when it is needed: together they take more than a gigabyte. */
export interface LargeCase {
  readonly name: string;
  readonly path: string;
  readonly body: () => Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent with the operator's token in the place of a key. */
  readonly byOperator?: boolean;
  /** What is measured when the body only prepares it: a request that is about the answer to it. */
  readonly next?: (answer: string) => FollowingRequest;
}

/** A request that continues from the answer to a large body. */
export interface FollowingRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: Buffer;
}

const FILES = 2;
export const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
export const files = <Block>(block: (data: string) => Block): Block[] =>
  Array.from({ length: FILES }, (_, index) => block('ABCD'[index]?.repeat(FILE_CHARACTERS - 4).concat('AAAA') ?? ''));

export const VERSION = { 'anthropic-version': '2023-06-01' };
const message = (model: string, content: unknown, more: object = {}) => ({
  model,
  max_tokens: 8,
  messages: [{ role: 'user', content }],
  ...more,
});
export const document = (data: string) => ({
  type: 'document',
  source: { type: 'base64', media_type: 'application/pdf', data },
});
export const image = (data: string) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } });
export const inputImage = (data: string) => ({ type: 'input_image', image_url: `data:image/png;base64,${data}` });

/** Bytes that begin as a PNG of 64 x 64 pixels. */
function png(characters: number): string {
  const head = Buffer.from('89504e470d0a1a0a0000000d49484452000000400000004008020000002512', 'hex');
  return head.toString('base64').slice(0, 40).padEnd(characters, 'A');
}

export const messages = (
  name: string,
  model: string,
  content: () => unknown,
  more: object = {},
  headers = {},
): LargeCase => ({
  name,
  path: '/v1/messages',
  body: () => json(message(model, content(), more)),
  headers: { ...VERSION, ...headers },
});
export const responses = (
  name: string,
  model: string,
  content: () => unknown,
  more: object = {},
  large: () => object = () => ({}),
): LargeCase => ({
  name,
  path: '/v1/responses',
  body: () => {
    const input = [{ role: 'user', content: content() }];
    return json({ model, max_output_tokens: 16, store: false, input, ...more, ...large() });
  },
});

export const chat = (
  name: string,
  model: string,
  content: () => unknown,
  more: () => object = () => ({}),
): LargeCase => ({
  name,
  path: '/v1/chat/completions',
  body: () => json({ model, max_tokens: 8, messages: [{ role: 'user', content: content() }], ...more() }),
});
export const chatImage = (data: string) => ({
  type: 'image_url',
  image_url: { url: `data:image/png;base64,${data}` },
});
export const embeddings = (name: string, input: () => unknown): LargeCase => ({
  name,
  path: '/v1/embeddings',
  body: () => json({ model: EMBEDDING_MODEL, input: input() }),
});
export const gemini = (name: string, body: () => object, protocol: keyof typeof MODEL_OVER = 'gemini'): LargeCase => ({
  name,
  path: `/v1beta/models/${MODEL_OVER[protocol]}:generateContent`,
  body: () => json(body()),
});

/** A request that is remembered, and what is asked of it later. */
export const remembered = (name: string, next: LargeCase['next'], text: () => string): LargeCase => ({
  ...responses(name, MODEL_OVER.chat, () => []),
  body: () =>
    json({
      model: MODEL_OVER.chat,
      max_output_tokens: 16,
      input: [{ type: 'message', id: KEPT_ITEM, role: 'user', content: [{ type: 'input_text', text: text() }] }],
    }),
  ...(next && { next }),
});
export const KEPT_ITEM = 'msg_kept';
export const idOf = (answer: string): string => (JSON.parse(answer) as { id: string }).id;
export const goOn = (more: object): FollowingRequest => ({
  method: 'POST',
  path: '/v1/responses',
  body: json({ model: MODEL_OVER.chat, max_output_tokens: 16, store: false, ...more }),
});

/** Nearly all the values that a request may have, in small turns. */
export const TURNS = 14_000;
export const turns = <Turn>(turn: (place: number) => Turn): Turn[] =>
  Array.from({ length: TURNS }, (_, place) => turn(place));
/** The same in one schema. */
const SCHEMA_FIELDS = 14_000;
export const schema = () => ({
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: SCHEMA_FIELDS }, (_, place) => [`k${place}`, { type: 'string' }]),
  ),
});
export const role = (place: number) => (place % 2 === 0 ? 'user' : 'assistant');

/** So many that each is small. */
export const CALLS = 1_000;
/** A JSON object of about so many bytes that takes long to parse. */
export const valuesIn = (bytes: number): string => `{"a":[${'{},'.repeat(bytes / 3 - 40)}1]}`;
export const packed = (value: string): string => Buffer.from(value).toString('base64url');

/** A conversation in which calls were made with these arguments, as their caller wrote them, each with this proof. */
export const called = (calls: number, written: string, data?: string) =>
  Array.from({ length: calls }, (_, place) => [
    { role: 'user', content: 'hello' },
    {
      role: 'assistant',
      tool_calls: [{ id: `call_${place}`, type: 'function', function: { name: 'f', arguments: written } }],
      ...(data !== undefined && { reasoning_details: [{ type: 'reasoning.encrypted', data }] }),
    },
    { role: 'tool', tool_call_id: `call_${place}`, content: 'done' },
  ]).flat();

/** The same in content generation, with proofs as the gateway packs them. */
export function provenContents(calls: number, what: 'proofs' | 'results') {
  const text = packed(valuesIn((BODY_BYTES * 0.74) / calls));
  const thoughtSignature = what === 'proofs' ? `chat:~${text}` : `gateway:${text}`;
  return Array.from({ length: calls }, (_, place) => [
    { role: 'user', parts: [{ text: 'hello' }] },
    { role: 'model', parts: [{ functionCall: { id: `c${place}`, name: 'f', args: {} }, thoughtSignature }] },
    { role: 'user', parts: [{ functionResponse: { id: `c${place}`, name: 'f', response: {} } }] },
  ]).flat();
}

/** The model that makes embeddings. */
export const EMBEDDING_MODEL = 'text-embedding';

/** The models that lead to an upstream of each protocol. */
export const MODEL_OVER = {
  responses: 'vendor-5',
  chat: 'vendor-4o-image',
  messages: 'vendor-haiku-4-5-20251001',
  gemini: 'vendor-2.5-flash',
  sandbox: 'vendor-4-vision',
} as const;

export const text = (unit: string): string => unit.repeat(BODY_BYTES / Buffer.byteLength(unit));
export const images = () => Array.from({ length: 4 }, () => `data:image/png;base64,${png(FILE_CHARACTERS / 2)}`);
