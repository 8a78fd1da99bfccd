import type { JsonObject, ResponsesRequest } from '#contracts';
import { asJson } from '../json-object.js';
import { withShortSchemas } from '../request-parts.js';
import type { TextStyleCodec } from '../text-style-codec.js';
import { nativeResponsesBody, responsesOutputLimit } from './native-responses-body.js';
import { readResponsesRequest } from './read-responses-request.js';
import { withPrevious } from './previous-response.js';
import { ResponsesStream } from './responses-stream.js';
import { envelopedResponse, responsesAnswer, type ResponseLike } from './write-responses-answer.js';

/** The style of D1 4.1. */
export const responsesStyle: TextStyleCodec<ResponsesRequest> = {
  style: 'responses',
  read: (...sent) => withShortSchemas(readResponsesRequest(...sent)),
  native: nativeResponsesBody,
  outputLimit: responsesOutputLimit,
  thinkingBudget: () => undefined,
  answer: (reply, context) => {
    const response = responsesAnswer(reply, context);
    const json = JSON.stringify(response);
    context.onAnswer(asJson(response), json);
    return envelopedResponse(json, response);
  },
  wrap: (json, answer: JsonObject & Partial<ResponseLike>, sent) =>
    envelopedResponse(withPrevious(json, sent?.previous_response_id), answer as JsonObject & ResponseLike),
  stream: (context) => new ResponsesStream(context),
};
