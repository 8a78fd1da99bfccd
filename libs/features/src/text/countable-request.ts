import { GatewayError, isJsonObject, type TextPart, type TextRequest, type UserPart } from '#contracts';

/** Fields whose values are no words: files, addresses, and what a vendor sealed. */
const UNREAD = new Set([
  'data',
  'encrypted_content',
  'encrypted_index',
  'file_data',
  'fileData',
  'image_url',
  'inlineData',
  'signature',
  'source',
  'thoughtSignature',
]);

const IMAGES = new Set(['image', 'image_url', 'input_image']);
const IMAGE: UserPart = { type: 'image', source: { kind: 'url', url: '' } };

/**
 * The request to count the tokens of: as it would be written for an upstream of another interface, and where that has no
 * words for it, the words that stand in it. Its own vendor may well answer it.
 *
 * @throws GatewayError whatever `read` throws, `unsupported_parameter` apart.
 */
export function countableRequest(body: object, read: () => TextRequest): TextRequest {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'unsupported_parameter') throw error;
    return { ...NOTHING, turns: [{ role: 'user', parts: [...partsIn(body)] }] };
  }
}

const NOTHING: TextRequest = {
  model: '',
  stream: false,
  system: [],
  turns: [],
  tools: [],
  hostedTools: [],
  toolChoice: { mode: 'auto' },
  parallelToolCalls: true,
  format: { type: 'text' },
  stopSequences: [],
};

function* partsIn(value: unknown): Generator<UserPart> {
  if (typeof value === 'string') yield asText(value);
  else if (Array.isArray(value)) for (const entry of value) yield* partsIn(entry);
  else if (isJsonObject(value)) {
    if (typeof value['type'] === 'string' && IMAGES.has(value['type'])) yield IMAGE;
    for (const [name, entry] of Object.entries(value)) if (!UNREAD.has(name)) yield* partsIn(entry);
  }
}

const asText = (text: string): TextPart => ({ type: 'text', text });
