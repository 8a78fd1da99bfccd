import { submissionSchema } from '#contracts';
import { envelope, type OperationText, schemaOf } from '../../http/operation.js';

/** Pricing a request. */
export const QUOTE: OperationText = {
  id: 'quote',
  tag: 'Prices',
  summary: 'Price a request for video, images or text without running it',
  description:
    'Takes the body of any video or image endpoint, or of chat completions, and returns its price, or the error of that endpoint. Of text the input is counted and the longest reply is priced. Costs nothing.',
  body: {
    oneOf: [
      submissionSchema('/v1/videos/generations'),
      submissionSchema('/v1/images/generations'),
      submissionSchema('/v1/images/edits'),
    ],
  },
  answer: envelope(schemaOf('Quote')),
  errors: ['invalid_parameter', 'missing_parameter', 'model_not_found', 'model_not_allowed'],
};
