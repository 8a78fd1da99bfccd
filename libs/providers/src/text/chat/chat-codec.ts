import type { ProtocolCodec } from '../upstream/protocol-codec.js';
import { ChatStreamDecoder, readChatReply } from './read-chat-reply.js';
import { writeChatRequest } from './write-chat-request.js';

/** The chat completions interface, which most vendors and local servers speak. No inbound style has its form. */
export const chatCodec: ProtocolCodec = {
  protocol: 'chat',
  path: () => '/chat/completions',
  headers: (key) => (key === undefined ? {} : { authorization: `Bearer ${key}` }),
  write: writeChatRequest,
  read: readChatReply,
  decoder: () => new ChatStreamDecoder(),
  marks: { decode: [] },
  mayReasonUnasked: true,
};
