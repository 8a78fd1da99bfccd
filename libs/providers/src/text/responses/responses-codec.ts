import type { ProtocolCodec } from '../upstream/protocol-codec.js';
import { producedInResponses } from './produced-in-responses.js';
import { readResponsesReply, ResponsesStreamDecoder } from './read-responses-reply.js';
import { writeResponsesRequest } from './write-responses-request.js';

/** The responses interface. */
export const responsesCodec: ProtocolCodec = {
  protocol: 'responses',
  path: () => '/responses',
  headers: (key) => (key === undefined ? {} : { authorization: `Bearer ${key}` }),
  write: writeResponsesRequest,
  read: readResponsesReply,
  decoder: () => new ResponsesStreamDecoder(),
  producedReader: producedInResponses,
  marks: { decode: /"(?:response\.completed|response\.incomplete|response\.failed|error)"/ },
  mayReasonUnasked: true,
};
