import { Injectable } from '@nestjs/common';
import { encodeTime } from 'ulid';
import { type JsonObject, type Medium, type PublicTaskStatus, type TaskState } from '#contracts';
import { Database } from '#platform';
import { foreignCursor, type Page } from '../paging/page.js';
import { PUBLIC_STATUS_SQL } from '../tasks/read/task-list.js';
import { isTaskId } from '../tasks/task-row.js';

/** What operators may look for, all of it together. Null: whatever. */
export interface TaskSearch {
  readonly taskId: string | null;
  readonly requestId: string | null;
  readonly accountId: string | null;
  readonly keyId: string | null;
  readonly model: string | null;
  readonly medium: Medium | null;
  /** As clients see it. */
  readonly status: PublicTaskStatus | null;
  readonly state: TaskState | null;
  readonly errorCode: string | null;
  /** Any text in the vendor's handle of the work, whole. */
  readonly vendorId: string | null;
  /** The vendor's own id of a request that was about the task, whole. */
  readonly vendorRequestId: string | null;
  /** Unix milliseconds, both inclusive; of the submission. */
  readonly createdFromMs: number | null;
  readonly createdToMs: number | null;
}

/** The smallest id a task of that moment can have. */
const earliestId = (unixMs: number): string => `task_${encodeTime(unixMs, 10)}`;

/**
 * Finds tasks of all accounts, newest first. The conditions are only those that are asked for, so that each has its index;
 * open tasks and ended ones are looked for apart, because the indexes of search hold only what has ended.
 */
@Injectable()
export class TaskSearchService {
  constructor(private readonly database: Database) {}

  /**
   * `cursor`: the last task of the page before.
   *
   * @throws GatewayError `invalid_parameter`: no such cursor.
   */
  async find(
    search: TaskSearch,
    page: { readonly limit: number; readonly cursor: string | null },
  ): Promise<Page<OperatorTask>> {
    if (page.cursor !== null && !isTaskId(page.cursor)) throw foreignCursor();
    const values: unknown[] = [];
    const conditions = conditionsOf(search, page.cursor).map(([text, value]) => {
      values.push(value);
      return text.replace('?', `$${values.length}`);
    });
    const where = conditions.map((condition) => ` and ${condition}`).join('');
    // No ended task has an open status, and all would be read to learn so.
    const mayBeEnded = search.status === null || isEndedStatus(search.status);
    values.push(page.limit + 1);
    const limit = `$${values.length}`;
    const text = `
      with open as materialized (
        select id from task where finished_at is null${where}
      ), ended as (
        select id from task where ${mayBeEnded} and finished_at is not null${where} order by id desc limit ${limit}
      )
      select ${OPERATOR_TASK_COLUMNS} from task
      where id = any(array(select id from (select id from open union all select id from ended) found order by id desc limit ${limit}))
      order by id desc`;
    const { rows } = await this.database.ofOperators().query<OperatorTask>({ text, values });
    const items = rows.slice(0, page.limit);
    return { items, nextCursor: rows.length > page.limit ? (items.at(-1)?.id ?? null) : null };
  }
}

/** Each condition with the value that its `?` stands for. */
function conditionsOf(search: TaskSearch, cursor: string | null): [string, unknown][] {
  const all: readonly (readonly [string, unknown])[] = [
    ['id = ?', search.taskId],
    ['request_id = ?', search.requestId],
    ['account_id = ?', search.accountId],
    ['api_key_id = ?', search.keyId],
    ['model = ?', search.model],
    ['medium = ?', search.medium],
    // Said twice, as state and as status, the planner would expect far too few.
    [`(${PUBLIC_STATUS_SQL}) = ?`, isEndedStatus(search.status) ? null : search.status],
    ['state = ?', isEndedStatus(search.status) ? search.status : null],
    ['state = ?', search.state],
    ['error_code = ?', search.errorCode],
    // The path names no key, because each vendor has its own.
    [`operation @@ ?::jsonpath`, search.vendorId === null ? null : `$.** == ${JSON.stringify(search.vendorId)}`],
    ['id = any(array(select task_id from task_call where vendor_request_id = ?))', search.vendorRequestId],
    ['id >= ?', search.createdFromMs === null ? null : earliestId(search.createdFromMs)],
    ['id < ?', search.createdToMs === null ? null : earliestId(search.createdToMs + 1)],
    ['id < ?', cursor],
  ];
  return all.filter(([, value]) => value !== null).map(([text, value]) => [text, value]);
}

/** The status of an ended task is its state, which has an index. */
const isEndedStatus = (status: PublicTaskStatus | null): boolean =>
  status === 'completed' || status === 'failed' || status === 'cancelled';

/** A task as operators see it: its state, never the content of the order. */
export interface OperatorTask {
  readonly id: string;
  readonly account_id: string;
  readonly api_key_id: string;
  readonly medium: Medium;
  readonly model: string;
  readonly state: TaskState;
  readonly status: string;
  readonly progress: number;
  /** How often a worker took it. */
  readonly attempt: number;
  readonly failures: number;
  /** Attempts at the present step that ended without a word. */
  readonly lapses: number;
  readonly last_failure: string | null;
  readonly lease_owner: string | null;
  readonly lease_until: Date | null;
  readonly provider: string | null;
  /** What the vendor calls the work: the short values of its handle, which may hold what was asked for besides. */
  readonly vendor_ids: JsonObject | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly hold_micros: bigint;
  readonly charged_micros: bigint | null;
  readonly request_id: string;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly start_intent_at: Date | null;
  readonly running_at: Date | null;
  readonly produced_at: Date | null;
  readonly cancel_requested_at: Date | null;
  readonly cancel_outcome: string | null;
  readonly finished_at: Date | null;
  readonly deadline_at: Date;
}

export const OPERATOR_TASK_COLUMNS = `id, account_id, api_key_id, medium, model, state,
  case when finished_at is not null then state when state = 'queued' and started_at is null then 'submitted'
    else 'in_progress' end as status,
  progress, attempt, failures, lapses, last_failure, lease_owner, lease_until, provider,
  (select jsonb_object_agg(key, value) from jsonb_each(operation)
    where jsonb_typeof(value) in ('string', 'number') and length(value::text) <= 200) as vendor_ids, error_code, error_message,
  hold_micros, charged_micros, request_id, created_at, started_at, start_intent_at, running_at, produced_at, cancel_requested_at,
  cancel_outcome, finished_at, deadline_at`;
