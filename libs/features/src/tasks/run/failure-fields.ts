import type { MediaFailure } from '#contracts';
import type { TaskRow } from '../task-row.js';

/**
 * What a log line says of a failed call: which upstream, at which try, what kind of failure (`why`, one of our own words), and
 * the vendor's status and code. Its sentence may repeat a prompt, so it stands in the task's timeline alone.
 */
export const failureFields = (
  { id: taskId, attempt }: Pick<TaskRow, 'id' | 'attempt'>,
  upstream: string,
  { kind, reason: why, vendor: { status, code } }: MediaFailure,
) => ({ taskId, upstream, attempt, kind, why, status, code });
