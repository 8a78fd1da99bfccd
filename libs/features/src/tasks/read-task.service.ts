import { GatewayError, type BalanceUnit, type TaskView } from '#contracts';
import { Coalescer, Database, type MediaStore } from '#platform';
import { isTaskId } from './task-id.js';
import type { TaskFileRow, TaskRow } from './task-row.js';
import { toTaskView } from './task-view.js';

type ReadRow = TaskRow & { readonly files: TaskFileRow[] | null };

/** One round trip for all tasks asked for together; files are read only for tasks that can have them. */
const READ_TASKS = `
select id, account_id, medium, model, state, version, progress, notices, hold_micros, charged_micros, quantity, billing_unit,
  error_code, error_message, created_at, started_at, finished_at,
  case when state = 'completed' then (
    select json_agg(json_build_object('ordinal', ordinal, 'role', role, 'store_key', store_key, 'content_type', content_type,
      'bytes', bytes, 'sha256', sha256, 'width', width, 'height', height, 'duration_ms', duration_ms,
      'expires_at', floor(extract(epoch from expires_at))::bigint, 'removed', removed_at is not null) order by ordinal)
    from task_file f where f.task_id = task.id) end as files
from task where id = any($1)`;

/** Reads tasks for their owners. Always from the row, never from a queue. */
export class ReadTaskService {
  private readonly reads: Coalescer<string, ReadRow | null>;

  constructor(
    private readonly database: Database,
    private readonly store: MediaStore,
    private readonly unit: BalanceUnit,
  ) {
    this.reads = new Coalescer((ids) => this.readRows(ids), { maxItems: 128, maxRunsInFlight: 3 });
  }

  /**
   * One task of the account.
   *
   * @throws GatewayError `task_not_found`: unknown, or somebody else's; the two answers are the same.
   */
  async read(accountId: string, taskId: string): Promise<TaskView> {
    const row = isTaskId(taskId) ? await this.reads.add(taskId) : null;
    if (!row || row.account_id !== accountId) {
      throw new GatewayError('task_not_found', `There is no task "${taskId.slice(0, 64)}" in this account.`, {
        param: 'task_id',
      });
    }
    return toTaskView(row, row.files ?? [], this.store, this.unit);
  }

  private async readRows(ids: readonly string[]): Promise<(ReadRow | null)[]> {
    const { rows } = await this.database.query<ReadRow>({ name: 'read_tasks', text: READ_TASKS, values: [ids] });
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => byId.get(id) ?? null);
  }
}
