import { formatMicros, publicStatusOf, isFinal, type BalanceUnit, type TaskFileView, type TaskView } from '#contracts';
import type { MediaStore } from '#media';
import type { ReadRow } from '../task-columns.js';
import { describeCancellation } from '../cancel/task-cancellation.js';
import type { TaskFileRow, TaskRow } from '../task-row.js';

const unixSeconds = (date: Date | null): number | null => (date ? Math.floor(date.getTime() / 1000) : null);

/** Shows a row the way clients see it (design section 5). Links are made fresh at every reading. */
export async function toTaskView(
  task: ReadRow,
  files: readonly TaskFileRow[],
  store: MediaStore,
  unit: BalanceUnit,
): Promise<TaskView> {
  return {
    task_id: task.id,
    id: task.id,
    object: 'task',
    type: task.medium,
    model: task.model,
    status: publicStatusOf(task.state, task.started_at !== null),
    progress: task.progress,
    ...(task.queue_position !== null && { queue_position: task.queue_position }),
    created: unixSeconds(task.created_at) ?? 0,
    started: unixSeconds(task.started_at),
    completed: unixSeconds(task.finished_at),
    result: task.state === 'completed' ? await toResult(task, files, store) : null,
    error: task.error_code ? { code: task.error_code, message: task.error_message ?? '' } : null,
    usage: {
      amount: formatMicros(task.charged_micros ?? task.hold_micros),
      unit,
      quantity: billedQuantity(task),
      per: task.billing_unit,
      final: isFinal(task.state),
    },
    ...(task.notices.length > 0 && { notice: task.notices.join(' ') }),
    ...(task.cancel_requested_at && { cancellation: describeCancellation(task, task.cancel_requested_at) }),
  };
}

/** What the amount pays for, once something is charged; before, and where nothing is, what was ordered. */
function billedQuantity({ charged_micros: charged, hold_micros: held, quantity }: TaskRow): number {
  if (!charged || held === 0n) return quantity;
  return Number((charged * BigInt(quantity)) / held);
}

async function toResult(task: TaskRow, files: readonly TaskFileRow[], store: MediaStore): Promise<TaskView['result']> {
  const views = await Promise.all(files.map((file) => toFileView(file, store)));
  const outputs = views.filter((_, index) => files[index]?.role === 'output');
  const lastFrame = views.find((_, index) => files[index]?.role === 'last_frame');
  return {
    [task.medium === 'video' ? 'videos' : 'images']: outputs,
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
