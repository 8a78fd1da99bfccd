import type { ProtocolCodec } from '../upstream/protocol-codec.js';
import { GeminiStreamDecoder, readGeminiReply } from './read-gemini-reply.js';
import { withCallsProven } from './unproven-calls.js';
import { writeGeminiRequest } from './write-gemini-request.js';

/** The content-generation interface. Streams are always asked for as server-sent events. */
export const geminiCodec: ProtocolCodec = {
  protocol: 'gemini',
  path: (model, stream) =>
    `/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  headers: (key) => (key === undefined ? {} : { 'x-goog-api-key': key }),
  write: writeGeminiRequest,
  // A body that passes through byte for byte is its caller's; one that lost another vendor's proofs is not.
  native: (body, _options, model) =>
    body.kind === 'rewritten' && Array.isArray(body.body['contents'])
      ? { ...body, body: { ...body.body, contents: withCallsProven(body.body['contents'], model) } }
      : body,
  read: readGeminiReply,
  decoder: () => new GeminiStreamDecoder(),
  marks: { decode: ['"finishReason"', '"blockReason"', '"error"'], latest: '"usageMetadata"' },
  mayReasonUnasked: true,
};
