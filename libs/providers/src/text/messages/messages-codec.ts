import type { ProtocolCodec } from '../upstream/protocol-codec.js';
import { MessagesStreamDecoder, producedInMessages, readMessagesReply } from './read-messages-reply.js';
import { writeMessagesRequest } from './write-messages-request.js';

/** The version sent when the caller's own request did not bring one. */
const INTERFACE_VERSION = '2023-06-01';

/** The messages interface. */
export const messagesCodec: ProtocolCodec = {
  protocol: 'messages',
  path: () => '/messages',
  headers: (key) => ({ 'anthropic-version': INTERFACE_VERSION, ...(key === undefined ? {} : { 'x-api-key': key }) }),
  write: writeMessagesRequest,
  read: readMessagesReply,
  decoder: () => new MessagesStreamDecoder(),
  producedReader: () => producedInMessages,
  marks: { decode: /"(?:message_start|message_delta|message_stop|error)"/ },
  mayReasonUnasked: false,
};
