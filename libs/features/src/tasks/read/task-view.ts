import {
  type BalanceUnit,
  formatMicros,
  isFinal,
  publicStatusOf,
  type TaskCancellation,
  type TaskFileView,
  type TaskView,
} from '#contracts';
import type { MediaStore } from '#media';
import type { TaskFileRow, TaskRow } from '../task-row.js';

/** The most waiting tasks that are counted to find a place in the queue. */
export const QUEUE_POSITION_MAX = 1_000;

/**
 * What a view needs of a row, as one JSON object named `task`: twenty columns of twenty rows cost the driver more than all the rest of
 * a list. Files are read only for tasks that can have them, the place only for those that wait.
 */
export const TASK_COLUMNS = `
json_build_object('id', id, 'account_id', account_id, 'medium', medium, 'model', model, 'state', state, 'version', version,
  'progress', progress, 'notices', notices, 'hold_micros', hold_micros::text, 'charged_micros', charged_micros::text,
  'quantity', quantity, 'billing_unit', billing_unit, 'error_code', error_code, 'error_message', error_message,
  'created_at', floor(extract(epoch from created_at))::bigint, 'started_at', floor(extract(epoch from started_at))::bigint,
  'finished_at', floor(extract(epoch from finished_at))::bigint,
  'cancel_requested_at', floor(extract(epoch from cancel_requested_at))::bigint, 'cancel_outcome', cancel_outcome,
  'files', case when state = 'completed' then (
    select json_agg(json_build_object('ordinal', ordinal, 'role', role, 'store_key', store_key, 'content_type', content_type,
      'bytes', bytes, 'sha256', sha256, 'width', width, 'height', height, 'duration_ms', duration_ms,
      'expires_at', floor(extract(epoch from expires_at))::bigint, 'removed', removed_at is not null) order by ordinal)
    from task_file f where f.task_id = task.id) end,
  'queue_position', case when state = 'queued' and started_at is null then (
    select count(*)::integer from (
      select from task q where q.medium = task.medium and q.account_id = task.account_id and q.state = 'queued'
        and q.lease_until <= task.lease_until limit ${QUEUE_POSITION_MAX}) ahead) end) as task`;

/** What `TASK_COLUMNS` reads: times in Unix seconds, money as text, because numbers of JSON end where bigint goes on. */
export interface ReadTask extends Pick<
  TaskRow,
  | 'id'
  | 'account_id'
  | 'medium'
  | 'model'
  | 'state'
  | 'version'
  | 'progress'
  | 'notices'
  | 'quantity'
  | 'billing_unit'
  | 'error_code'
  | 'error_message'
  | 'cancel_outcome'
> {
  readonly hold_micros: string;
  readonly charged_micros: string | null;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  readonly cancel_requested_at: number | null;
  readonly files: readonly TaskFileRow[] | null;
  readonly queue_position: number | null;
}

export interface ReadRow {
  readonly task: ReadTask;
}

const MESSAGES = {
  requested:
    'The vendor is being asked to stop. If it stops, nothing is charged; if the work succeeds first, it is charged.',
  cancelled: 'The task was stopped. The whole hold was released; nothing is charged.',
  too_late: 'The vendor could not stop any more. The task goes on, and is charged if it succeeds.',
  unsupported: 'The vendor of this model cannot stop work. The task goes on, and is charged if it succeeds.',
} as const satisfies Record<TaskCancellation['outcome'], string>;

/** The outcome of a cancellation, for the work and for the money. */
function describeCancellation(task: ReadTask, requested: number): TaskCancellation {
  const outcome = outcomeOf(task);
  return { requested, outcome, message: MESSAGES[outcome] };
}

function outcomeOf({ state, cancel_outcome: outcome }: ReadTask): TaskCancellation['outcome'] {
  if (state === 'cancelled') return 'cancelled';
  return outcome ?? (state === 'storing' || isFinal(state) ? 'too_late' : 'requested');
}

/** Shows a task the way clients see it. Links are made fresh at every reading. */
export async function toTaskView(task: ReadTask, store: MediaStore, unit: BalanceUnit): Promise<TaskView> {
  const [held, charged] = [BigInt(task.hold_micros), task.charged_micros === null ? null : BigInt(task.charged_micros)];
  return {
    task_id: task.id,
    id: task.id,
    object: 'task',
    type: task.medium,
    model: task.model,
    status: publicStatusOf(task.state, task.started_at !== null),
    progress: task.progress,
    ...(task.queue_position !== null && { queue_position: task.queue_position }),
    created: task.created_at,
    started: task.started_at,
    completed: task.finished_at,
    result: task.state === 'completed' ? await toResult(task, store) : null,
    error: task.error_code ? { code: task.error_code, message: task.error_message ?? '' } : null,
    usage: {
      amount: formatMicros(charged ?? held),
      unit,
      quantity: charged && held !== 0n ? Number((charged * BigInt(task.quantity)) / held) : task.quantity,
      per: task.billing_unit,
      final: isFinal(task.state),
    },
    ...(task.notices.length > 0 && { notice: task.notices.join(' ') }),
    ...(task.cancel_requested_at !== null && { cancellation: describeCancellation(task, task.cancel_requested_at) }),
  };
}

async function toResult({ medium, files }: ReadTask, store: MediaStore): Promise<TaskView['result']> {
  const views = await Promise.all((files ?? []).map((file) => toFileView(file, store)));
  const outputs = views.filter((_, index) => files?.[index]?.role === 'output');
  const lastFrame = views.find((_, index) => files?.[index]?.role === 'last_frame');
  return {
    [medium === 'video' ? 'videos' : 'images']: outputs,
    ...(lastFrame && { last_frame_url: lastFrame.url }),
  };
}

async function toFileView(file: TaskFileRow, store: MediaStore): Promise<TaskFileView> {
  const secondsLeft = file.expires_at === null ? null : file.expires_at - Math.floor(Date.now() / 1000);
  const expired = file.removed || (secondsLeft !== null && secondsLeft <= 0);
  return {
    url: expired ? null : await store.url(file.store_key, { ttlSeconds: secondsLeft }),
    expires_at: file.expires_at,
    ...(expired && { expired: true as const }),
    content_type: file.content_type,
    width: file.width,
    height: file.height,
    duration: file.duration_ms === null ? null : file.duration_ms / 1000,
    bytes: file.bytes,
    sha256: file.sha256,
  };
}
