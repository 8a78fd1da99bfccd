import type { Request } from 'express';
import { type AcceptedTask, attributionOf, type SubmissionContext } from '#features';
import { callerOf } from './api-key.guard.js';

/** The answer to an accepted submission. */
export type SubmittedData = readonly [
  { readonly status: 'submitted'; readonly task_id: string; readonly notice?: string },
];

/** One element for the one task that a request makes, with what its owner should know. */
export const submitted = ({ taskId, notices }: Pick<AcceptedTask, 'taskId' | 'notices'>): SubmittedData => [
  { status: 'submitted', task_id: taskId, ...(notices.length > 0 && { notice: notices.join(' ') }) },
];

/** What comes with a submission besides its body. */
export const submissionContext = (request: Request): SubmissionContext => ({
  requestId: request.requestId,
  taskId: request.attempt?.taskId ?? request.repeatable?.taskId,
  idempotencyKey: request.attempt?.key,
  webhookHeader: request.get('x-webhook-url'),
  attribution: attributionOf(request.headers, request.body, callerOf(request)),
});
