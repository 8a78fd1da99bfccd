import type { ProtocolCodec } from '../upstream/protocol-codec.js';
import { producedInChat } from './produced-in-chat.js';
import { withLimitField } from './limit-field.js';
import { ChatStreamDecoder, readChatReply } from './read-chat-reply.js';
import { writeChatRequest } from './write-chat-request.js';

/** The chat completions interface, which most vendors and local servers speak. */
export const chatCodec: ProtocolCodec = {
  protocol: 'chat',
  path: () => '/chat/completions',
  headers: (key) => (key === undefined ? {} : { authorization: `Bearer ${key}` }),
  write: writeChatRequest,
  native: (body, { outputLimitField = 'max_tokens' }) => withLimitField(body, outputLimitField),
  read: readChatReply,
  decoder: () => new ChatStreamDecoder(),
  producedReader: () => producedInChat,
  // Some vendors say in every chunk that the usage is null and the reply not finished: those need no parsing.
  marks: { decode: /"(?:usage"\s*:\s*\{|finish_reason"\s*:\s*"|error"\s*:)|(?:^|[\n\r])(?:data: ?)?\[DONE\]/ },
  mayReasonUnasked: true,
};
