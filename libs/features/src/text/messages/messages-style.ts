import { DEFAULT_MAX_TOKENS, type MessagesRequest, type NativeBody } from '#contracts';
import { envelope } from '../envelope.js';
import { asJson } from '../json-object.js';
import type { TextStyleCodec } from '../text-style-codec.js';
import { MessagesStream } from './messages-stream.js';
import { readMessagesRequest } from './read-messages-request.js';
import { messagesAnswer } from './write-messages-answer.js';

/** A missing `max_tokens` is filled in, because the native interface demands one. */
function nativeMessagesBody(body: MessagesRequest, bytes: Uint8Array | undefined): NativeBody {
  if (body.max_tokens != null && bytes) return { kind: 'bytes', bytes };
  return { kind: 'rewritten', body: { ...asJson(body), max_tokens: body.max_tokens ?? DEFAULT_MAX_TOKENS } };
}

/** The style of D1 4.3. */
export const messagesStyle: TextStyleCodec<MessagesRequest> = {
  style: 'messages',
  read: readMessagesRequest,
  native: nativeMessagesBody,
  outputLimit: (body) => body.max_tokens ?? DEFAULT_MAX_TOKENS,
  answer: (reply, context) => envelope(JSON.stringify(messagesAnswer(reply, context.model))),
  wrap: (json) => envelope(json),
  stream: (context) => new MessagesStream(context),
};
