import type { ChatRequest } from '#contracts';
import { envelope } from '../reply-parts.js';
import { withShortSchemas } from '../request-parts.js';
import type { TextStyleCodec } from '../text-style-codec.js';
import { ChatStream } from './chat-stream.js';
import { nativeChatBody } from './native-chat-body.js';
import { chatOutputLimit, readChatRequest } from './read-chat-request.js';
import { namedBudget } from './read-reasoning-request.js';
import { chatAnswer } from './write-chat-answer.js';

/** Chat completions, the interface that most programs speak. */
export const chatStyle: TextStyleCodec<ChatRequest> = {
  style: 'chat',
  read: (...sent) => withShortSchemas(readChatRequest(...sent)),
  native: nativeChatBody,
  outputLimit: chatOutputLimit,
  replies: ({ n }) => n ?? 1,
  thinkingBudget: namedBudget,
  thinkingBesideLimit: ({ thinking_budget: budget }) => budget ?? 0,
  answer: (reply, context) => envelope(JSON.stringify(chatAnswer(reply, context))),
  wrap: (json) => envelope(json),
  stream: (context) => new ChatStream(context),
};
