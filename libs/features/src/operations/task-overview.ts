import { Injectable } from '@nestjs/common';
import { GatewayError, type LedgerKind } from '#contracts';
import { Database } from '#platform';
import { OPERATOR_COST } from '../billing/usage/usage.service.js';
import type { ShownRow } from '../paging/page.js';
import { isTaskId } from '../tasks/task-row.js';
import { OPERATOR_TASK_COLUMNS, type OperatorTask } from './task-search.js';

/** A movement of money for one task. */
interface OperatorEntry extends ShownRow {
  readonly kind: LedgerKind;
  readonly amount_micros: bigint;
  readonly created_at: Date;
}

interface TimelineEntry {
  readonly time: Date;
  readonly event: string;
  readonly detail: object | null;
}

/** A task with everything that is known of its life. */
export interface TaskHistory {
  readonly task: OperatorTask;
  /** Earliest first. */
  readonly timeline: readonly TimelineEntry[];
  readonly entries: readonly OperatorEntry[];
  readonly usage: readonly object[];
  readonly deliveries: readonly TaskDelivery[];
}

const ONE = `select ${OPERATOR_TASK_COLUMNS}, ended.*,
  coalesce((select sum(amount_micros) from task_refund where task_id = $1), 0)::bigint as refunded_micros,
  (select task_id from task_redrive where new_task_id = $1) as redrive_of,
  (select new_task_id from task_redrive where task_id = $1) as redriven_as
from task left join lateral (select ${OPERATOR_COST} where task.finished_at is not null) ended on true where id = $1`;
const ENTRIES = `select id::text as id, kind, debit, credit, amount_micros, reference, note, created_at from ledger_entry
where task_id = $1 or id in (select entry_id from task_refund where task_id = $1) order by ledger_entry.id`;
/** A record is written when its task ends, and when it is refunded; the account's index leads there. */
const USAGE = `select id, created_at, status, upstream, amount_micros, quantity, duration_ms, lines, ${OPERATOR_COST} from usage_record
where account_id = $2 and task_id = $1 and created_at >= $3 order by created_at limit 100`;
const DELIVERIES = `select id, event_type, endpoint_id, url, state, attempts, last_status, last_error, created_at, finished_at,
  next_attempt_at from webhook_delivery where task_id = $1 order by id limit 100`;
const EVENTS = `select created_at as time, kind as event,
  jsonb_strip_nulls(jsonb_build_object('attempt', attempt, 'worker', worker, 'detail', detail)) as detail
from task_event where task_id = $1 order by id limit 1000`;
/** Each time it was handed to an upstream, with that vendor's own words, which its support asks for. */
const CALLS = `select started_at as time, 'call.' || outcome as event, jsonb_strip_nulls(jsonb_build_object('attempt', attempt,
  'upstream', upstream, 'ended_at', ended_at, 'status', vendor_status, 'code', vendor_code, 'message', vendor_message,
  'request_id', vendor_request_id)) as detail
from task_call where task_id = $1 order by id limit 1000`;
const AUDIT = `select created_at as time, action as event, jsonb_build_object('actor', actor, 'after', after) as detail
from audit_record where subject_id = $1 order by created_at limit 1000`;

/** Tasks of all accounts for operators. */
@Injectable()
export class TaskOverview {
  constructor(private readonly database: Database) {}

  /** One task with its whole life, or null when there is none of that id. */
  async find(taskId: string): Promise<TaskHistory | null> {
    if (!isTaskId(taskId)) return null;
    const [task] = await this.rows<TaskHistory['task']>(ONE, [taskId]);
    if (!task) return null;
    const [entries, usage, deliveries, events, calls, audit] = await Promise.all([
      this.rows<OperatorEntry>(ENTRIES, [taskId]),
      this.rows<object>(USAGE, [taskId, task.account_id, task.created_at]),
      this.rows<TaskDelivery>(DELIVERIES, [taskId]),
      this.rows<TimelineEntry>(EVENTS, [taskId]),
      this.rows<TimelineEntry>(CALLS, [taskId]),
      this.rows<TimelineEntry>(AUDIT, [taskId]),
    ]);
    const timeline = [
      ...milestones(task),
      ...entries.map(moved),
      ...events,
      ...calls,
      ...audit,
      ...deliveries.flatMap(delivered),
    ];
    timeline.sort((first, second) => first.time.getTime() - second.time.getTime());
    return { task, timeline, entries, usage, deliveries };
  }

  /**
   * As `find`.
   *
   * @throws GatewayError `task_not_found`.
   */
  async read(taskId: string): Promise<TaskHistory> {
    const found = await this.find(taskId);
    if (found) return found;
    throw new GatewayError('task_not_found', `There is no task "${taskId.slice(0, 64)}".`, { param: 'task_id' });
  }

  private async rows<Row extends object>(text: string, values: unknown[]): Promise<Row[]> {
    return (await this.database.ofOperators().query<Row>({ text, values })).rows;
  }
}

/** A webhook that told of the task. */
interface TaskDelivery extends ShownRow {
  readonly state: string;
  readonly created_at: Date;
  readonly finished_at: Date | null;
}

/** The times that stand in the row itself. */
function milestones(task: OperatorTask): TimelineEntry[] {
  const { provider, vendor_ids, attempt, error_code: code, error_message: message } = task;
  const times: readonly (readonly [unknown, string, object | null])[] = [
    [task.created_at, 'submitted', { request_id: task.request_id }],
    [task.started_at, 'first_claimed', null],
    [task.start_intent_at, 'start_announced', { provider }],
    [task.running_at, 'running', { provider, vendor_ids }],
    [task.produced_at, 'produced', null],
    [task.cancel_requested_at, 'cancel_requested', { outcome: task.cancel_outcome }],
    [task.finished_at, task.state, code === null ? { attempt } : { attempt, code, message }],
  ];
  return times.flatMap(([time, event, detail]) => (time instanceof Date ? [{ time, event, detail }] : []));
}

const moved = ({ created_at: time, kind, amount_micros, debit, credit, reference }: OperatorEntry): TimelineEntry => ({
  time,
  event: `ledger.${kind}`,
  detail: { amount_micros, debit, credit, reference },
});

function delivered({
  id,
  event_type: type,
  url,
  state,
  attempts,
  created_at,
  finished_at,
}: TaskDelivery): TimelineEntry[] {
  const queued = { time: created_at, event: 'webhook.queued', detail: { id, type, url } };
  return finished_at ? [queued, { time: finished_at, event: `webhook.${state}`, detail: { id, attempts } }] : [queued];
}
