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
  'Retries with the same key and body get the first response at no cost. Kept for 24 hours.',
);
const WEBHOOK_URL = inHeader(
  'X-Webhook-Url',
  'URL that receives a signed call when the task has ended. Also a body field.',
);

function submission(path: SubmissionPath, id: string, tag: string, summary: string): OperationText {
  const models = familiesAt(path).flatMap((family) => family.models);
  return {
    id,
    tag,
    summary,
    description: `Returns a task handle at once. Models: ${models.map((model) => `\`${model}\``).join(', ')}.`,
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
  editImage: submission('/v1/images/edits', 'editImage', 'Images', 'Edit an image'),
} satisfies Readonly<Record<string, OperationText>>;
