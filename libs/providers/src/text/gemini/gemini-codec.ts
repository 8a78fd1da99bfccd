import type { JsonValue, NativeBody } from '#contracts';
import type { ProtocolCodec, ProtocolOptions } from '../upstream/protocol-codec.js';
import { alternating } from './alternating.js';
import { GeminiStreamDecoder, producedInGemini, readGeminiReply } from './read-gemini-reply.js';
import { withCallsProven } from './unproven-calls.js';
import { writeGeminiRequest } from './write-gemini-request.js';

/** The caller's own bytes, unless its contents do not alternate or lost the proofs of another vendor. */
function nativeGemini(native: NativeBody, _options: ProtocolOptions, model: string): NativeBody {
  const body = native.kind === 'rewritten' ? native.body : native.parsed();
  const sent = body['contents'];
  if (!Array.isArray(sent)) return native;
  const contents = alternating(sent as readonly JsonValue[]);
  if (native.kind === 'bytes')
    return contents === sent ? native : { kind: 'rewritten', body: { ...native.front, ...body, contents } };
  return { kind: 'rewritten', body: { ...body, contents: withCallsProven(contents, model) } };
}

/** The content-generation interface. Streams are always asked for as server-sent events. */
export const geminiCodec: ProtocolCodec = {
  protocol: 'gemini',
  path: (model, stream) =>
    `/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  headers: (key) => (key === undefined ? {} : { 'x-goog-api-key': key }),
  write: writeGeminiRequest,
  native: nativeGemini,
  read: readGeminiReply,
  decoder: () => new GeminiStreamDecoder(),
  producedReader: () => producedInGemini,
  marks: { decode: /"(?:finishReason|blockReason|error)"/, latest: '"usageMetadata"' },
  mayReasonUnasked: true,
};
