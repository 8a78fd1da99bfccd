import { formatMicros, type Operation } from '#contracts';
import { eventLogger } from '#platform';
import type { EndedTask } from '../observability/record-task-end.js';
import type { ClaimedTask, TaskRow } from './task-row.js';

/** Whose task a line is about. */
interface TaskFields {
  readonly [field: string]: string | number | undefined;
  readonly taskId: string;
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
}

const ID = /^[\w.:/-]{1,128}$/;

const fieldsOf = ({
  id,
  request_id: requestId,
  account_id: accountId,
  api_key_id: keyId,
  model,
}: TaskRow): TaskFields => ({
  taskId: id,
  requestId,
  accountId,
  keyId,
  model,
});

const claimed = eventLogger('generation', 'task.claimed');
const started = eventLogger('generation', 'task.started');
const waiting = eventLogger('generation', 'task.waiting');
const stored = eventLogger('generation', 'task.stored');
const ENDS = {
  completed: eventLogger('generation', 'task.completed'),
  failed: eventLogger('generation', 'task.failed'),
  cancelled: eventLogger('generation', 'task.cancelled'),
};

/** A line for each step in the life of a task, so that a task id leads to its whole story. */
export const taskLog = {
  /** A worker took the task for its next step. */
  claimed: (task: ClaimedTask): void => claimed({ ...fieldsOf(task), step: task.state, attempt: task.attempt }),

  /** Its step is tried again, after a failed try or because no upstream takes it for now. */
  waiting: (task: TaskRow, { reason, delayMs }: { readonly reason: string; readonly delayMs: number }): void =>
    waiting({
      ...fieldsOf(task),
      upstream: task.upstream_id ?? undefined,
      attempt: task.attempt,
      reason,
      waitMs: Math.round(delayMs),
    }),

  /** Its vendor has it. */
  started: (task: ClaimedTask, upstream: string, operation: Operation): void =>
    started({
      ...fieldsOf(task),
      upstream,
      upstreamTaskId: idOf(operation),
      attempt: task.attempt,
      ms: sinceClaim(task),
    }),

  /** Its files lie in our store. */
  stored: (task: ClaimedTask, files: number, bytes: number): void =>
    stored({
      ...fieldsOf(task),
      upstream: task.upstream_id ?? undefined,
      attempt: task.attempt,
      files,
      bytes,
      ms: sinceClaim(task),
    }),

  /** It is over, and its money is final. */
  ended: (task: EndedTask, taskId: string): void => {
    ENDS[task.state]({
      taskId,
      requestId: task.request_id,
      accountId: task.account_id,
      keyId: task.api_key_id,
      model: task.model,
      upstream: task.upstream_id ?? undefined,
      attempt: task.attempt,
      code: task.error_code ?? undefined,
      amount: formatMicros(task.charged_micros),
      ms: Math.round(task.total_seconds * 1000),
    });
  },
};

/** By our clock and the database's, so never more exact than the two agree. */
const sinceClaim = ({ claimed_at: at }: ClaimedTask): number => Math.max(0, Date.now() - at.getTime());

/** The vendor's own name for its work, where it is one word; an operation may hold anything. */
function idOf(operation: Operation): string | undefined {
  const id = operation['id'] ?? operation['task_id'] ?? operation['taskId'];
  return typeof id === 'string' && ID.test(id) ? id : undefined;
}
