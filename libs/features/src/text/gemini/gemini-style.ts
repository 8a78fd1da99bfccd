import type { GeminiContent, GeminiPart, GeminiRequest, JsonObject, NativeBody } from '#contracts';
import { addToTopLevelObject } from '#providers';
import { asBuffer } from '../byte-matcher.js';
import { envelope } from '../reply-parts.js';
import { asJson } from '../json-object.js';
import { withShortSchemas } from '../request-parts.js';
import type { TextStyleCodec } from '../text-style-codec.js';
import { arrayFraming, eventFraming, GeminiStream } from './gemini-stream.js';
import { readGeminiRequest } from './read-gemini-request.js';
import { geminiAnswer } from './write-gemini-answer.js';

const isEmptyText = (part: GeminiPart): boolean => part.text === '' && Object.keys(part).length === 1;

/**
 * The body without texts of no letters, which vendors stream at the end of a reply, libraries send back with it, and the same
 * vendors then refuse; the same object when it has none. A turn of nothing else stays, unless it continues the one before.
 */
function withoutEmptyTexts(body: GeminiRequest): GeminiRequest {
  if (!body.contents.some(({ parts }) => parts.some(isEmptyText))) return body;
  const contents = body.contents.flatMap((content, place): readonly GeminiContent[] => {
    const parts = content.parts.filter((part) => !isEmptyText(part));
    if (parts.length > 0) return [{ ...asJson(content), parts }];
    return place > 0 && content.role === body.contents[place - 1]?.role ? [] : [content];
  });
  return { ...asJson(body), contents };
}

/** The limit is a member of an object that may be missing, or there without it. */
function nativeGeminiBody(
  sent: GeminiRequest,
  sentBytes: Uint8Array | undefined,
  limit: number | undefined,
): NativeBody {
  const body = withoutEmptyTexts(sent);
  const bytes = body === sent ? sentBytes : undefined;
  const parsed = (): JsonObject => limitedBody(body, limit);
  if (limit === undefined) return bytes ? { kind: 'bytes', bytes, parsed } : { kind: 'rewritten', body: parsed() };
  if (bytes && !('generationConfig' in body))
    return { kind: 'bytes', bytes, front: { generationConfig: { maxOutputTokens: limit } }, parsed };
  const limited = bytes && withinConfig(body, bytes, `"maxOutputTokens":${limit}`);
  return limited ? { kind: 'bytes', bytes: limited, parsed } : { kind: 'rewritten', body: parsed() };
}

const limitedBody = (body: GeminiRequest, limit: number | undefined): JsonObject =>
  limit === undefined
    ? asJson(body)
    : { ...asJson(body), generationConfig: { ...asJson(body.generationConfig ?? {}), maxOutputTokens: limit } };

function withinConfig({ generationConfig }: GeminiRequest, bytes: Uint8Array, member: string): Uint8Array | null {
  if (!generationConfig || 'maxOutputTokens' in generationConfig) return null;
  return addToTopLevelObject(asBuffer(bytes), 'generationConfig', member);
}

function geminiStyle(framing: typeof eventFraming): TextStyleCodec<GeminiRequest> {
  return {
    style: 'gemini',
    read: (...sent) => withShortSchemas(readGeminiRequest(...sent)),
    native: nativeGeminiBody,
    outputLimit: (body) => body.generationConfig?.maxOutputTokens ?? undefined,
    thinkingBudget: (body) => body.generationConfig?.thinkingConfig?.thinkingBudget ?? undefined,
    answer: (reply, context) => envelope(JSON.stringify(geminiAnswer(reply, context.model, context.requestId))),
    wrap: (json) => envelope(json),
    stream: (context) => new GeminiStream(context, framing()),
  };
}

/** The gemini style, streamed as server-sent events (`alt=sse`). */
export const geminiEventStyle = geminiStyle(eventFraming);

/** The gemini style, streamed as one JSON array. */
export const geminiArrayStyle = geminiStyle(arrayFraming);
