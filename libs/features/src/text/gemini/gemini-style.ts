import type { GeminiRequest } from '#contracts';
import { envelope } from '../envelope.js';
import { asJson } from '../json-object.js';
import type { TextStyleCodec } from '../text-style-codec.js';
import { arrayFraming, eventFraming, GeminiStream } from './gemini-stream.js';
import { readGeminiRequest } from './read-gemini-request.js';
import { geminiAnswer } from './write-gemini-answer.js';

function geminiStyle(framing: typeof eventFraming): TextStyleCodec<GeminiRequest> {
  return {
    style: 'gemini',
    read: readGeminiRequest,
    native: (body, bytes) => (bytes ? { kind: 'bytes', bytes } : { kind: 'rewritten', body: asJson(body) }),
    outputLimit: (body) => body.generationConfig?.maxOutputTokens ?? undefined,
    answer: (reply, context) => envelope(JSON.stringify(geminiAnswer(reply, context.model, context.requestId))),
    wrap: (json) => envelope(json),
    stream: (context) => new GeminiStream(context, framing()),
  };
}

/** The style of D1 4.2, streamed as server-sent events (`alt=sse`). */
export const geminiEventStyle = geminiStyle(eventFraming);

/** The style of D1 4.2, streamed as one JSON array. */
export const geminiArrayStyle = geminiStyle(arrayFraming);
