import {
  type ErrorCode,
  familiesAt,
  type JsonObject,
  PUBLIC_STATUSES,
  submissionSchema,
  type SubmissionPath,
} from '#contracts';
import { envelope, inHeader, inPath, inQuery, operation, schemaOf } from './operation.js';

const SUBMISSION_ERRORS: readonly ErrorCode[] = [
  'invalid_parameter',
  'missing_parameter',
  'unknown_parameter',
  'invalid_media',
  'insufficient_balance',
  'insufficient_key_quota',
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

const TASK_ID = inPath('task_id', 'The handle that the submission answered.');

function submission(path: SubmissionPath, id: string, tag: string, summary: string): JsonObject {
  const models = familiesAt(path).flatMap((family) => family.models);
  return {
    post: operation({
      id,
      tag,
      summary,
      description: `Answers at once with a task handle. Models: ${models.map((model) => `\`${model}\``).join(', ')}.`,
      parameters: [IDEMPOTENCY_KEY, WEBHOOK_URL],
      body: submissionSchema(path),
      answer: schemaOf('SubmittedTask'),
      errors: SUBMISSION_ERRORS,
    }),
  };
}

const TASK_ANSWER = envelope(schemaOf('Task'));
const TASK_STATUSES = [...PUBLIC_STATUSES];

/** Submissions, tasks and quotes. */
export const MEDIA_PATHS: JsonObject = {
  '/v1/videos/generations': submission('/v1/videos/generations', 'generateVideo', 'Videos', 'Order a video'),
  '/v1/images/generations': submission('/v1/images/generations', 'generateImage', 'Images', 'Order images'),
  '/v1/images/edits': submission('/v1/images/edits', 'editImage', 'Images', 'Order the change of an image'),
  '/v1/quote': {
    post: operation({
      id: 'quote',
      tag: 'Prices',
      summary: 'Price a video or image request without running it',
      description:
        'Takes the body of any video or image endpoint and refuses what that endpoint refuses. Moves no money.',
      body: {
        oneOf: [
          submissionSchema('/v1/videos/generations'),
          submissionSchema('/v1/images/generations'),
          submissionSchema('/v1/images/edits'),
        ],
      },
      answer: envelope(schemaOf('Quote')),
      errors: ['invalid_parameter', 'missing_parameter', 'model_not_found', 'model_not_allowed'],
    }),
  },
  '/v1/tasks': {
    get: operation({
      id: 'listTasks',
      tag: 'Tasks',
      summary: 'List tasks, newest first',
      parameters: [
        inQuery('limit', 'Tasks on a page.', { type: 'integer', minimum: 1, maximum: 100, default: 20 }),
        inQuery('cursor', 'The `next_cursor` of the page before.', { type: 'string' }),
        inQuery('status', 'Only tasks of this status.', { type: 'string', enum: TASK_STATUSES }),
        inQuery('type', 'Only tasks of this kind.', { type: 'string', enum: ['video', 'image'] }),
        inQuery('model', 'Only tasks of this model.', { type: 'string' }),
      ],
      answer: {
        type: 'object',
        required: ['code', 'data', 'has_more', 'next_cursor'],
        properties: {
          code: { const: 200 },
          data: { type: 'array', items: schemaOf('Task') },
          has_more: { type: 'boolean' },
          next_cursor: { type: ['string', 'null'] },
        },
      },
      errors: ['invalid_parameter'],
    }),
  },
  '/v1/tasks/batch': {
    post: operation({
      id: 'readTasks',
      tag: 'Tasks',
      summary: 'Read up to 100 tasks at once',
      body: {
        type: 'object',
        required: ['task_ids'],
        properties: { task_ids: { type: 'array', minItems: 1, maxItems: 100, items: { type: 'string' } } },
      },
      answer: {
        type: 'object',
        required: ['code', 'data', 'not_found'],
        properties: {
          code: { const: 200 },
          data: { type: 'array', items: schemaOf('Task') },
          not_found: { type: 'array', items: { type: 'string' } },
        },
      },
      errors: ['invalid_parameter', 'missing_parameter'],
    }),
  },
  '/v1/tasks/{task_id}': {
    get: operation({
      id: 'readTask',
      tag: 'Tasks',
      summary: 'Read a task',
      description: 'Not final: the header Retry-After says when to ask again.',
      parameters: [
        TASK_ID,
        inQuery('wait', 'Hold the answer until the status changes, for so many seconds at most.', {
          type: 'integer',
          minimum: 0,
          maximum: 60,
        }),
        inHeader('Prefer', 'The same as a standard header: `wait=30`.'),
      ],
      answer: TASK_ANSWER,
      errors: ['task_not_found', 'invalid_parameter'],
    }),
  },
  '/v1/tasks/{task_id}/events': {
    get: operation({
      id: 'followTask',
      tag: 'Tasks',
      summary: 'Follow a task as server-sent events',
      description: 'Resumable: send back the last event id in Last-Event-ID.',
      parameters: [TASK_ID, inHeader('Last-Event-ID', 'The id of the last event that arrived.')],
      answer: {
        description: 'One event for each change.',
        content: { 'text/event-stream': { schema: { type: 'string' } } },
      },
      errors: ['task_not_found'],
    }),
  },
  '/v1/tasks/{task_id}/cancel': {
    post: operation({
      id: 'cancelTask',
      tag: 'Tasks',
      summary: 'Cancel a task',
      description: 'A task that ended keeps its end. A hold is released when the task is cancelled.',
      parameters: [TASK_ID],
      answer: TASK_ANSWER,
      errors: ['task_not_found', 'conflict'],
    }),
  },
};
