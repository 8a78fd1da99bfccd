import { failedBecause, isJsonObject, type MediaFailure, type MediaReason, type OperationState } from '#contracts';
import { failureBy, type FailureRule } from '../http/failure-rules.js';
import type { VendorReply, Verb } from '../http/media-codec.js';

/** The other side does not sell this model, or not to us. */
const NOT_SOLD = new Set(['model_not_allowed', 'model_not_available', 'model_not_found', 'model_not_priced']);
/** It cannot make this order, and others may. */
const UNSUPPORTED = new Set(['unsupported_parameter', 'request_too_large', 'unknown_parameter']);

/** The codes of our own API. */
const RULES: readonly FailureRule[] = [
  { when: ({ code }) => code === 'task_not_found', kind: 'refused', reason: 'work_lost' },
  { when: ({ status }) => status === 402, kind: 'unfit', reason: 'not_paid' },
  { when: ({ code }) => NOT_SOLD.has(code), kind: 'unfit', reason: 'not_served', scope: 'model' },
  // The first sending of the same order is still being read there: sent again, it gets that one's answer.
  {
    when: ({ code, status, verb }) => verb === 'start' && (code === 'idempotency_in_flight' || status === 408),
    kind: 'ambiguous',
    reason: 'unanswered',
  },
  { when: ({ status }) => status === 404 || status === 405, kind: 'unfit', reason: 'not_served' },
  {
    when: ({ code, verb }) => verb === 'start' && UNSUPPORTED.has(code),
    kind: 'unsupported',
    reason: 'not_possible',
  },
  {
    when: ({ code, verb }) => verb === 'start' && code === 'invalid_media',
    kind: 'refused',
    reason: 'reference_unusable',
  },
  {
    when: ({ status, verb }) => verb === 'start' && (status === 400 || status === 422),
    kind: 'refused',
    reason: 'parameter_refused',
  },
];

/** Why another gateway did not do what was asked. */
export function readGatewayFailure(reply: VendorReply, verb: Verb): MediaFailure {
  const error = isJsonObject(reply.body) ? reply.body['error'] : undefined;
  const param = isJsonObject(error) ? error['param'] : undefined;
  return failureBy(RULES, reply, error, verb, typeof param === 'string' ? { param } : {});
}

const REASONS: ReadonlyMap<string, MediaReason> = new Map(
  Object.entries({
    cancelled: 'work_stopped',
    content_policy: 'result_refused',
    deadline_exceeded: 'work_expired',
    invalid_media: 'reference_unusable',
    nothing_delivered: 'nothing_delivered',
    task_not_found: 'work_lost',
  } as const),
);

/** How a task that the other gateway gave up looks here. */
export const failedTask = (code: unknown): OperationState => failedBecause(REASONS.get(String(code)) ?? 'work_failed');
