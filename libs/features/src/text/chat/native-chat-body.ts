import { CHAT_LIMITS, type ChatRequest, type JsonObject, type NativeBody } from '#contracts';
import { addToTopLevelObject } from '#providers';
import { asBuffer } from '../byte-matcher.js';
import { asJson } from '../json-object.js';
import { chatOutputLimit } from './read-chat-request.js';

const [LIMIT] = CHAT_LIMITS;

type NativeBytes = Extract<NativeBody, { kind: 'bytes' }>;

/** Whether the caller wants to read the usage at the end of a stream. */
export const isUsageAsked = ({ stream_options: options }: ChatRequest): boolean => options?.include_usage === true;

/** The usage of a stream is always asked for: it is what the request is charged by. */
const mustAsk = (body: ChatRequest): boolean => body.stream === true && !isUsageAsked(body);

function rewrittenBody(body: ChatRequest, added: number | undefined): JsonObject {
  const { max_tokens: _former, max_completion_tokens: _newer, ...rest } = asJson(body);
  const limit = chatOutputLimit(body) ?? added;
  const name = CHAT_LIMITS.find((each) => body[each] != null) ?? LIMIT;
  return {
    ...rest,
    ...(limit !== undefined && { [name]: limit }),
    ...(mustAsk(body) && { stream_options: { ...asJson(body.stream_options ?? {}), include_usage: true } }),
  };
}

/** The bytes with the wish for usage, if they have a place for it; it stands in front when they do not name its field. */
function askingForUsage(body: ChatRequest, bytes: Uint8Array): Pick<NativeBytes, 'bytes' | 'front'> | null {
  if (!mustAsk(body)) return { bytes };
  const options = body.stream_options;
  if (!('stream_options' in body)) return { bytes, front: { stream_options: { include_usage: true } } };
  if (!options || 'include_usage' in options) return null;
  const asking = addToTopLevelObject(asBuffer(bytes), 'stream_options', '"include_usage":true');
  return asking && { bytes: asking };
}

/**
 * The body for an upstream of the same style. The bytes stay as they are but for what the gateway must add to the front:
 * a limit where the caller set none, and the wish for the usage of a stream. Bytes that pass have the limit under one of its
 * names, once, in the bytes or in front of them.
 */
export function nativeChatBody(
  body: ChatRequest,
  bytes: Uint8Array | undefined,
  limit: number | undefined,
): NativeBody {
  const parsed = (): JsonObject => rewrittenBody(body, limit);
  const asking = bytes && askingForUsage(body, bytes);
  const named = CHAT_LIMITS.filter((name) => name in body).length;
  if (!asking || named !== (limit === undefined && chatOutputLimit(body) !== undefined ? 1 : 0))
    return { kind: 'rewritten', body: parsed() };
  if (limit === undefined) return { kind: 'bytes', ...asking, parsed };
  return { kind: 'bytes', ...asking, front: { [LIMIT]: limit, ...asking.front }, parsed };
}
