import type { ProtocolCodec } from '../upstream/protocol-codec.js';
import { GeminiStreamDecoder, producedInGemini, readGeminiReply } from './read-gemini-reply.js';
import { writeGeminiRequest } from './write-gemini-request.js';

/** The content-generation interface. Streams are always asked for as server-sent events. */
export const geminiCodec: ProtocolCodec = {
  protocol: 'gemini',
  path: (model, stream) =>
    `/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  headers: (key) => (key === undefined ? {} : { 'x-goog-api-key': key }),
  write: writeGeminiRequest,
  read: readGeminiReply,
  decoder: () => new GeminiStreamDecoder(),
  producedReader: () => producedInGemini,
  marks: { decode: ['"finishReason"', '"blockReason"', '"error"'], latest: '"usageMetadata"' },
  mayReasonUnasked: true,
};
