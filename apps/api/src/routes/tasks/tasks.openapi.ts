import { PUBLIC_STATUSES } from '#contracts';
import { envelopeSchema, inHeader, inQuery, operationsOf, schemaOf } from '../../http/operation.js';

const HANDLE = { task_id: 'The handle that the submission returned.' };

const TASK_ANSWER = envelopeSchema(schemaOf('Task'));
const TASK_STATUSES = [...PUBLIC_STATUSES];

export const TASK_OPERATIONS = operationsOf('Tasks', {
  listTasks: {
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
  },
  readTasks: {
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
  },
  readTask: {
    summary: 'Read a task',
    description: 'Not final: the header Retry-After says when to poll again.',
    path: HANDLE,
    parameters: [
      inQuery('wait', 'Delay the response until the status changes, for at most this many seconds.', {
        type: 'integer',
        minimum: 0,
        maximum: 60,
      }),
      inHeader('Prefer', 'The same as a standard header: `wait=30`.'),
    ],
    answer: TASK_ANSWER,
    errors: ['task_not_found', 'invalid_parameter'],
  },
  followTask: {
    summary: 'Follow a task as server-sent events',
    description:
      'Resumable: send back the last event id in Last-Event-ID. `event: error` says why the stream ends before the task does.',
    path: HANDLE,
    parameters: [inHeader('Last-Event-ID', 'The id of the last event that arrived.')],
    answer: {
      description: 'One event for each change.',
      content: { 'text/event-stream': { schema: { type: 'string' } } },
    },
    errors: ['task_not_found'],
  },
  cancelTask: {
    summary: 'Cancel a task',
    description: 'An ended task is not changed. The hold is released when the task is cancelled.',
    path: HANDLE,
    answer: TASK_ANSWER,
    errors: ['task_not_found', 'conflict'],
  },
});
