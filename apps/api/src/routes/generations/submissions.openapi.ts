import { type ErrorCode, familiesAt, submissionSchema, type SubmissionPath, UNPAID_CODES } from '#contracts';
import { inHeader, type OperationText, schemaOf } from '../../http/operation.js';

const SUBMISSION_ERRORS: readonly ErrorCode[] = [
  'invalid_parameter',
  'missing_parameter',
  'unknown_parameter',
  'invalid_media',
  ...UNPAID_CODES,
  'model_not_allowed',
  'model_not_found',
  'idempotency_in_flight',
  'idempotency_mismatch',
  'request_too_large',
  'unsupported_media_type',
];

const IDEMPOTENCY_KEY = inHeader(
  'Idempotency-Key',
  'Repeats of the request with the same key and body get the first answer and cost nothing. Kept 24 hours.',
);
const WEBHOOK_URL = inHeader('X-Webhook-Url', 'Where to announce the end of the task, signed. Also a body field.');

function submission(path: SubmissionPath, id: string, tag: string, summary: string): OperationText {
  const models = familiesAt(path).flatMap((family) => family.models);
  return {
    id,
    tag,
    summary,
    description: `Answers at once with a task handle. Models: ${models.map((model) => `\`${model}\``).join(', ')}.`,
    parameters: [IDEMPOTENCY_KEY, WEBHOOK_URL],
    body: submissionSchema(path),
    answer: schemaOf('SubmittedTask'),
    errors: SUBMISSION_ERRORS,
  };
}

/** The operations that make tasks. */
export const SUBMISSION_OPERATIONS = {
  generateVideo: submission('/v1/videos/generations', 'generateVideo', 'Videos', 'Order a video'),
  generateImage: submission('/v1/images/generations', 'generateImage', 'Images', 'Order images'),
  editImage: submission('/v1/images/edits', 'editImage', 'Images', 'Order the change of an image'),
} satisfies Readonly<Record<string, OperationText>>;
