import type { JsonObject, MessagesRequest, NativeBody } from '#contracts';
import { envelope } from '../reply-parts.js';
import { readableMessages } from '../hosted-tools/messages-steps.js';
import { asJson } from '../json-object.js';
import { withShortSchemas } from '../request-parts.js';
import type { TextStyleCodec } from '../text-style-codec.js';
import { MessagesStream } from './messages-stream.js';
import { readMessagesRequest } from './read-messages-request.js';
import { messagesAnswer } from './write-messages-answer.js';

/**
 * Fields that no upstream is to obey: names that neighbouring interfaces have for `max_tokens`, and the wish that the
 * conversation is kept, which the vendor would do for the operator's account, and so for every caller.
 */
const NOT_PASSED = ['max_tokens_to_sample', 'max_output_tokens', 'max_completion_tokens', 'thread'] as const;

/** The body with tools that the gateway ran as functions; the same object when it has none. */
function withoutOwnSteps(body: MessagesRequest): MessagesRequest {
  const messages = readableMessages(body.messages, true);
  if (messages === body.messages) return body;
  return { ...asJson(body), messages } as unknown as MessagesRequest;
}

/** The body without what is not passed on; the same object when it has none. */
function withoutNotPassed(body: MessagesRequest): MessagesRequest {
  if (!NOT_PASSED.some((name) => name in body)) return body;
  const kept = Object.entries(body).filter(([name]) => !NOT_PASSED.some((other) => other === name));
  return Object.fromEntries(kept) as unknown as MessagesRequest;
}

function nativeMessagesBody(
  sent: MessagesRequest,
  sentBytes: Uint8Array | undefined,
  limit: number | undefined,
): NativeBody {
  const body = withoutOwnSteps(withoutNotPassed(sent));
  const bytes = body === sent ? sentBytes : undefined;
  const parsed = (): JsonObject => (limit === undefined ? asJson(body) : { ...asJson(body), max_tokens: limit });
  if (bytes && limit === undefined) return { kind: 'bytes', bytes, parsed };
  if (bytes && limit !== undefined && !('max_tokens' in body))
    return { kind: 'bytes', bytes, front: { max_tokens: limit }, parsed };
  return { kind: 'rewritten', body: parsed() };
}

const thinkingBudget = ({ thinking }: MessagesRequest): number | undefined =>
  thinking?.type === 'enabled' ? thinking.budget_tokens : undefined;

/** Messages, as docs/api/text.md has them. */
export const messagesStyle: TextStyleCodec<MessagesRequest> = {
  style: 'messages',
  read: (...sent) => withShortSchemas(readMessagesRequest(...sent)),
  native: nativeMessagesBody,
  // Interleaved thinking may go beyond `max_tokens`, up to its budget.
  outputLimit: (body) => (body.max_tokens == null ? undefined : Math.max(body.max_tokens, thinkingBudget(body) ?? 0)),
  thinkingBudget,
  answer: (reply, context) => envelope(JSON.stringify(messagesAnswer(reply, context.model))),
  wrap: (json) => envelope(json),
  stream: (context) => new MessagesStream(context),
};
