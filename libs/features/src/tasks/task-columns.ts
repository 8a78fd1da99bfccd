import type { TaskFileRow, TaskRow } from './task-row.js';

/** The most waiting tasks that are counted to find a place in the queue. */
export const QUEUE_POSITION_MAX = 1_000;

/** What a view needs of a row. Files are read only for tasks that can have them, the place only for those that wait. */
export const TASK_COLUMNS = `
id, account_id, medium, model, state, version, progress, notices, hold_micros, charged_micros, quantity, billing_unit,
  error_code, error_message, created_at, started_at, finished_at, cancel_requested_at, cancel_outcome,
  case when state = 'completed' then (
    select json_agg(json_build_object('ordinal', ordinal, 'role', role, 'store_key', store_key, 'content_type', content_type,
      'bytes', bytes, 'sha256', sha256, 'width', width, 'height', height, 'duration_ms', duration_ms,
      'expires_at', floor(extract(epoch from expires_at))::bigint, 'removed', removed_at is not null) order by ordinal)
    from task_file f where f.task_id = task.id) end as files,
  case when state = 'queued' and started_at is null then (
    select count(*)::integer from (
      select from task q where q.medium = task.medium and q.account_id = task.account_id and q.state = 'queued'
        and q.lease_until <= task.lease_until limit ${QUEUE_POSITION_MAX}) ahead) end as queue_position`;

/** A row read with `TASK_COLUMNS`. */
export type ReadRow = TaskRow & {
  readonly files: TaskFileRow[] | null;
  readonly queue_position: number | null;
};
