import type { TextProtocol } from '#contracts';
import { chatCodec } from '../chat/chat-codec.js';
import { geminiCodec } from '../gemini/gemini-codec.js';
import { messagesCodec } from '../messages/messages-codec.js';
import { responsesCodec } from '../responses/responses-codec.js';
import type { ProtocolCodec } from './protocol-codec.js';

/** Every protocol an HTTP upstream may speak. */
export const PROTOCOL_CODECS: Readonly<Record<Exclude<TextProtocol, 'sandbox'>, ProtocolCodec>> = {
  responses: responsesCodec,
  chat: chatCodec,
  messages: messagesCodec,
  gemini: geminiCodec,
};
