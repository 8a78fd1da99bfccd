import { Injectable } from '@nestjs/common';
import type { Medium, TaskState } from '#contracts';
import { Database } from '#platform';
import { foreignCursor, type Page, pageByLastId, type PageRequest, type ShownRow } from '../paging/page.js';
import { pageOfTasks, type SoughtTasks, soughtBy, whereAll } from '../tasks/read/sought-tasks.js';
import { isTaskId } from '../tasks/task-row.js';

/** What operators may look for. */
export interface TaskSearch extends SoughtTasks {
  readonly taskId: string | null;
  readonly requestId: string | null;
  readonly state: TaskState | null;
  readonly errorCode: string | null;
  /** Any text in the vendor's handle of the work, whole. */
  readonly vendorId: string | null;
  /** The vendor's own id of a request that was about the task, whole. */
  readonly vendorRequestId: string | null;
}

/**
 * Finds tasks of all accounts, newest first. The conditions are only those that are asked for, so that each has its index.
 */
@Injectable()
export class TaskSearchService {
  constructor(private readonly database: Database) {}

  /**
   * `cursor`: the last task of the page before.
   *
   * @throws GatewayError `invalid_parameter`: no such cursor.
   */
  async find(search: TaskSearch, page: PageRequest): Promise<Page<OperatorTask>> {
    if (page.cursor !== null && !isTaskId(page.cursor)) throw foreignCursor();
    const values: unknown[] = [];
    const where = whereAll([...ofOperators(search), ...soughtBy(search, page.cursor)], values);
    const text = `
      with ${pageOfTasks(where, `$${values.push(page.limit + 1)}`, search.status)}
      select ${OPERATOR_TASK_COLUMNS} from task where id = any(array(select id from page)) order by id desc`;
    return pageByLastId((await this.database.ofOperators().query<OperatorTask>({ text, values })).rows, page.limit);
  }
}

const ofOperators = (search: TaskSearch): [string, unknown][] => [
  ['id = ?', search.taskId],
  ['request_id = ?', search.requestId],
  ['state = ?', search.state],
  ['error_code = ?', search.errorCode],
  // The path names no key, because each vendor has its own.
  [`operation @@ ?::jsonpath`, search.vendorId === null ? null : `$.** == ${JSON.stringify(search.vendorId)}`],
  ['id = any(array(select task_id from task_call where vendor_request_id = ?))', search.vendorRequestId],
];

/** A task as operators see it: its state, never the content of the order. */
export interface OperatorTask extends ShownRow {
  readonly id: string;
  readonly account_id: string;
  readonly api_key_id: string;
  readonly medium: Medium;
  readonly model: string;
  readonly state: TaskState;
  readonly attempt: number;
  readonly error_code: string | null;
  readonly request_id: string;
  readonly created_at: Date;
}

/** `lapses`: attempts at the present step that ended without a word. `vendor_ids`: the short values of the handle of the vendor's work. */
export const OPERATOR_TASK_COLUMNS = `id, account_id, api_key_id, medium, model, state,
  case when finished_at is not null then state when state = 'queued' and started_at is null then 'submitted'
    else 'in_progress' end as status,
  progress, attempt, failures, lapses, last_failure, lease_owner, lease_until, provider,
  (select jsonb_object_agg(key, value) from jsonb_each(operation)
    where jsonb_typeof(value) in ('string', 'number') and length(value::text) <= 200) as vendor_ids, error_code, error_message,
  hold_micros, charged_micros, request_id, created_at, started_at, start_intent_at, running_at, produced_at, cancel_requested_at,
  cancel_outcome, finished_at, deadline_at`;
