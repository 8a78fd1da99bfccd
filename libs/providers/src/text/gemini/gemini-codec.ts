import { isJsonObject, type JsonObject, type JsonValue, type NativeBody } from '#contracts';
import { traitsOf } from '../traits/model-traits.js';
import type { ProtocolCodec, ProtocolOptions } from '../upstream/protocol-codec.js';
import { GeminiStreamDecoder, producedInGemini, readGeminiChunks, readGeminiReply } from './read-gemini-reply.js';
import { withCallsProven, writeGeminiRequest } from './write-gemini-request.js';

const roleOf = (content: JsonValue | undefined): JsonValue | undefined =>
  isJsonObject(content) ? (content['role'] === 'model' ? 'model' : 'user') : undefined;

const partsOf = (content: JsonValue): readonly JsonValue[] | undefined =>
  isJsonObject(content) && Array.isArray(content['parts']) ? (content['parts'] as readonly JsonValue[]) : undefined;

/**
 * The contents with neighbours of a role put together, since the interface wants roles to alternate; the same list where
 * they do. Client libraries send an image that a function returned as a content of its own.
 */
function alternating(contents: readonly JsonValue[]): readonly JsonValue[] {
  if (!contents.some((content, place) => place > 0 && areOne(contents[place - 1], content))) return contents;
  const merged: JsonValue[] = [];
  for (let place = 0; place < contents.length;) {
    const end = endOfNeighbours(contents, place);
    const [first = null, ...others] = contents.slice(place, end);
    merged.push(others.length > 0 && isJsonObject(first) ? withPartsOf(first, others) : first);
    place = end;
  }
  return merged;
}

function endOfNeighbours(contents: readonly JsonValue[], place: number): number {
  let end = place + 1;
  while (end < contents.length && areOne(contents[end - 1], contents[end])) end += 1;
  return end;
}

const areOne = (one: JsonValue | undefined, other: JsonValue | undefined): boolean =>
  one !== undefined &&
  other !== undefined &&
  roleOf(one) === roleOf(other) &&
  partsOf(one) !== undefined &&
  partsOf(other) !== undefined;

const withPartsOf = (first: JsonObject, others: readonly JsonValue[]): JsonObject => ({
  ...first,
  parts: [first, ...others].flatMap((content) => partsOf(content) ?? []),
});

/** The caller's own bytes, unless its contents do not alternate or hold calls that the model takes with a proof alone. */
function nativeGemini(native: NativeBody, options: ProtocolOptions, model: string): NativeBody {
  const body = native.kind === 'rewritten' ? native.body : native.parsed();
  const sent = body['contents'];
  if (!Array.isArray(sent)) return native;
  const contents = withCallsProven(alternating(sent as readonly JsonValue[]), traitsOf(options, 'gemini', model));
  if (contents === sent) return native;
  return { kind: 'rewritten', body: { ...(native.kind === 'bytes' && native.front), ...body, contents } };
}

/** How the vendor lists models, which is where they lie. */
const PLACE = /^(models|tunedModels)\/(.+)$/s;

/** Where a model is asked, also by a name that says where it lies. */
function placeOf(model: string): string {
  const [, folder = 'models', name = model] = PLACE.exec(model) ?? [];
  return `/${folder}/${encodeURIComponent(name)}`;
}

/** The content-generation interface. Streams are always asked for as server-sent events. */
export const geminiCodec: ProtocolCodec = {
  protocol: 'gemini',
  path: (model, stream) => `${placeOf(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  headers: (key) => (key === undefined ? {} : { 'x-goog-api-key': key }),
  write: writeGeminiRequest,
  native: nativeGemini,
  read: readGeminiReply,
  readChunks: readGeminiChunks,
  decoder: () => new GeminiStreamDecoder(),
  continues: true,
  producedReader: () => producedInGemini,
  marks: {
    decode: /"(?:finishReason|blockReason|error)"/,
    begins: /"parts"\s*:\s*\[\s*\{|"(?:finishReason|blockReason)"/,
    // The last report of all may leave out what was written.
    latest: [/"candidatesTokenCount"\s*:\s*\d/, /"usageMetadata"\s*:\s*\{/],
  },
};
