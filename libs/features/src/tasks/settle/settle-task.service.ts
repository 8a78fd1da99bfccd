import { Inject, Injectable } from '@nestjs/common';
import {
  entrySql,
  type FinalState,
  type Micros,
  type StateBefore,
  type TaskFailureCode,
  type UpstreamOutput,
} from '#contracts';
import {
  Database,
  isConnectionError,
  isUnfitError,
  logger,
  retryOnConnectionError,
  signals,
  timeOrderedId,
} from '#platform';
import { FAILPOINTS, type Failpoints, TASK_SIGNALS, type TaskSignals } from '#runtime';
import { reasonOf } from '../../observability/paused-work.js';
import { type EndedTask, recordTaskEnd } from '../../observability/record-task-end.js';
import { leftoverFiles, type SettledFile } from '../store/result-files.js';
import { taskLog } from '../task-log.js';
import type { TaskRow } from '../task-row.js';

const log = logger('generation');

interface Completion {
  readonly chargeMicros: Micros;
  /** Units delivered: seconds of video or images. */
  readonly quantity: number;
  readonly files: readonly SettledFile[];
  /** Seconds the files stay; null: forever. */
  readonly resultTtlSeconds: number | null;
  /** Notices to the owner about the results. */
  readonly notices: readonly string[];
}

interface EndingIn<State extends FinalState> {
  readonly taskId: string;
  readonly from: readonly StateBefore<State>[];
  readonly attempt: number | null;
  /** Only while no vendor was called. */
  readonly unstarted?: true;
  readonly state: State;
  readonly error: { readonly code: TaskFailureCode; readonly message: string } | null;
  readonly completion: Completion;
}

/** Each end with the states that may come before it. */
type Ending = { [State in FinalState]: EndingIn<State> }[FinalState];

const NOTHING: Completion = { chargeMicros: 0n, quantity: 0, files: [], resultTtlSeconds: null, notices: [] };

/** How long what was copied for a failed task lies there, in seconds: longer than a worker that lost the task may keep copying. */
const LEFTOVERS_TTL_SECONDS = 3_600;

interface UnclaimedTask {
  readonly id: string;
  readonly outputs: readonly UpstreamOutput[] | null;
}

/** Ends tasks. The terminal move, the money, the files and the usage record are one statement: all of it or none. */
@Injectable()
export class SettleTaskService {
  constructor(
    private readonly database: Database,
    @Inject(TASK_SIGNALS) private readonly signals: TaskSignals,
    @Inject(FAILPOINTS) private readonly failpoints: Failpoints,
  ) {}

  /** Turns the hold into a charge and gives back the rest. False: the task had moved on. */
  complete(task: TaskRow, completion: Completion): Promise<boolean> {
    return this.end({
      taskId: task.id,
      from: ['storing'],
      attempt: task.attempt,
      state: 'completed',
      error: null,
      completion,
    });
  }

  /** Gives the whole hold back and says why, from within a claimed attempt. False: the task had moved on. */
  fail(task: TaskRow, code: TaskFailureCode, message: string): Promise<boolean> {
    const from = ['queued', 'submitting', 'storing'] as const;
    return this.end({
      taskId: task.id,
      from,
      attempt: task.attempt,
      state: 'failed',
      error: { code, message },
      completion: emptyCompletion(task),
    });
  }

  /** Fails an open task that no attempt holds: the vendor said no, or time ran out. `from` names where it may be. */
  failUnclaimed(
    task: UnclaimedTask,
    from: readonly StateBefore<'failed'>[],
    code: TaskFailureCode,
    message: string,
  ): Promise<boolean> {
    const [state, error, completion] = ['failed', { code, message }, emptyCompletion(task)] as const;
    return this.end({ taskId: task.id, from, attempt: null, state, error, completion });
  }

  /** Stops a task that its vendor has stopped, and gives the whole hold back. False: the task had moved on. */
  cancel(taskId: string, from: readonly StateBefore<'cancelled'>[]): Promise<boolean> {
    return this.end({ taskId, from, attempt: null, state: 'cancelled', error: null, completion: NOTHING });
  }

  /**
   * Stops a task that no vendor has seen, or whose vendor can be neither polled nor cancelled, and gives the whole hold
   * back. False: it is too late for that.
   */
  cancelUnstarted(taskId: string): Promise<boolean> {
    const from = ['queued', 'submitting'] as const;
    const [state, error, completion] = ['cancelled', null, NOTHING] as const;
    return this.end({ taskId, from, attempt: null, unstarted: true, state, error, completion });
  }

  private async end({ taskId, from, attempt, unstarted, state, error, completion }: Ending): Promise<boolean> {
    const files = completion.files.map((file) => ({
      ordinal: file.ordinal,
      role: file.role,
      store_key: file.storeKey,
      content_type: file.contentType,
      bytes: file.bytes,
      sha256: file.sha256,
      width: file.width,
      height: file.height,
      duration_ms: file.durationMs,
    }));
    const values = [
      taskId,
      state,
      from,
      attempt,
      completion.chargeMicros,
      completion.quantity,
      error?.code ?? null,
      error?.message ?? null,
      JSON.stringify(files),
      completion.resultTtlSeconds,
      timeOrderedId('usage'),
      unstarted ?? false,
      `${timeOrderedId('msg')}_`,
      completion.notices,
    ];
    const ended = await this.settle(taskId, values);
    if (!ended) return false;
    recordTaskEnd(ended);
    taskLog.ended(ended, taskId);
    this.failpoints.reach('after-settled');
    this.signals.publish([taskId]);
    return true;
  }

  /** State and money are written whatever becomes of the webhooks: an end that its webhooks prevent is written without them. */
  private async settle(taskId: string, values: readonly unknown[]): Promise<EndedTask | undefined> {
    try {
      return await this.run('settle_task', SETTLE_TASK, values);
    } catch (error) {
      if (isConnectionError(error) || isUnfitError(error)) throw error;
      const ended = await this.run('settle_unannounced', SETTLE_UNANNOUNCED, values.with(12, reasonOf(error)));
      if (!ended) return undefined;
      log.error('task.unannounced', { taskId, error });
      signals.tasksUnannounced.inc({ medium: ended.medium });
      return ended;
    }
  }

  private async run(name: string, text: string, values: readonly unknown[]): Promise<EndedTask | undefined> {
    const { rows } = await retryOnConnectionError(() => this.database.query<EndedTask>({ name, text, values }));
    return rows[0];
  }
}

/** Nothing is delivered and nothing charged, but files may lie in the store. */
const emptyCompletion = ({ id, outputs }: UnclaimedTask): Completion => ({
  ...NOTHING,
  files: leftoverFiles(id, outputs),
  resultTtlSeconds: outputs ? LEFTOVERS_TTL_SECONDS : null,
});

/** Whether nobody may send a task again that ended so, and nothing reads its inline files any more. */
const isOver = (state: string, errorCode: string): string =>
  `(${state} <> 'failed' or coalesce(${errorCode} in ('invalid_media', 'content_policy'), false))`;

/** What was configured is of the parts that were delivered; what a vendor reported counts whatever the result of the order. */
const deliveredPart = (column: string): string =>
  `case when $2 = 'completed' then round(${column}::numeric * $6::bigint / quantity)::bigint end`;

/**
 * Ends a task: the terminal move, the money, the files and the usage record, in one statement and one commit.
 *
 * Guarded twice. The UPDATE names the states it may leave and the attempt that may do it; and the ledger's unique
 * indexes allow one capture and one release for each task, so money moves once even if the guard were wrong.
 * Key and sums are reached only behind the lock of the account (`paid`), as in every money statement, so that two of
 * them never wait for each other.
 *
 * $1 task id, $2 final state, $3 states it may leave, $4 attempt or null, $5 charge in micros, $6 delivered quantity,
 * $7 error code, $8 error message, $9 files as JSON, $10 seconds until the files expire or null, $11 usage record id,
 * $12 true: only while no vendor was called, or the vendor cannot be asked about the call and the task waits for its deadline,
 * $13 beginning of the ids of webhook deliveries, $14 notices to add.
 *
 * Inline files go with the end of their use, so that orders that come to nothing fill no disk.
 *
 * The webhooks are written here too, so that none is sent before the money is final and none is forgotten after. What
 * they say is written when they are first sent; an address that stands twice gets one.
 */
const settleTask = (announced: string): string => `
with transitioned as (
  update task set state = $2, charged_micros = $5::bigint, error_code = $7, error_message = $8, finished_at = now(),
    lease_owner = null, lease_until = null, version = version + 1,
    progress = case when $2 = 'completed' then 100 else progress end,
    cost_micros = case when cost_is_reported then cost_micros else ${deliveredPart('cost_micros')} end,
    cost_worth_micros = coalesce(cost_worth_micros, ${deliveredPart('configured_worth_micros')}),
    long_bytes = case when not ${isOver('$2', '$7')} then (
      select sum(octet_length(piece)) from task_long_text where task_id = $1) end,
    files_expire_at = now() + $10::integer * interval '1 second', notices = notices || $14::text[],
    cancel_requested_at = case when $2 = 'cancelled' then coalesce(cancel_requested_at, now()) else cancel_requested_at end
  where id = $1 and state = any($3::text[]) and ($4::integer is null or attempt = $4)
    and (not $12::boolean or start_intent_at is null or (lease_owner is null and lease_until >= deadline_at))
  returning *
), paid as (
  update account a set held_micros = a.held_micros - m.hold_micros, used_micros = a.used_micros + m.charged_micros,
    available_micros = a.available_micros + m.hold_micros - m.charged_micros
  from transitioned m where a.id = m.account_id
  returning a.id
), keyed as (
  update api_key k set held_micros = k.held_micros - m.hold_micros, used_micros = k.used_micros + m.charged_micros
  from transitioned m join paid on paid.id = m.account_id where k.id = m.api_key_id
), captured as (
  insert into ledger_entry (account_id, api_key_id, task_id, request_id, kind, debit, credit, amount_micros)
  select account_id, api_key_id, id, request_id, ${entrySql('capture')}, charged_micros
  from transitioned where state = 'completed'
), released as (
  insert into ledger_entry (account_id, api_key_id, task_id, request_id, kind, debit, credit, amount_micros)
  select account_id, api_key_id, id, request_id, ${entrySql('release')}, hold_micros - charged_micros
  from transitioned where state <> 'completed' or hold_micros > charged_micros
), stored as (
  insert into task_file (task_id, ordinal, role, store_key, content_type, bytes, sha256, width, height, duration_ms, expires_at)
  select m.id, f.ordinal, f.role, f.store_key, f.content_type, f.bytes, f.sha256, f.width, f.height, f.duration_ms, m.files_expire_at
  from transitioned m, jsonb_to_recordset($9::jsonb) as f(ordinal smallint, role text, store_key text, content_type text,
    bytes bigint, sha256 text, width integer, height integer, duration_ms integer)
), unscheduled as (
  delete from task_poll where task_id in (select id from transitioned)
), emptied as (
  delete from task_long_text where task_id in (select id from transitioned where ${isOver('state', 'error_code')})
), announced as (${announced}
), explained as (
  insert into usage_record (id, account_id, api_key_id, kind, model, task_id, request_id, upstream, status,
    amount_micros, quantity, duration_ms, cost_micros, cost_unit, cost_worth_micros, cost_is_reported,
    session, agent, end_user, tags, lines)
  select $11, account_id, api_key_id, medium, model, id, request_id, provider, state, charged_micros, $6::bigint,
    least(extract(epoch from now() - created_at) * 1000, 2147483647)::integer, cost_micros,
    case when cost_micros is not null then cost_unit end, cost_worth_micros,
    case when cost_micros is not null then cost_is_reported end, session, agent, end_user, tags,
    jsonb_build_array(jsonb_build_object('source', 'price_book', 'price_id', price_id, 'unit', billing_unit,
      'variant', billing_variant, 'price_micros', (hold_micros / quantity)::text, 'quantity', $6::bigint,
      'amount_micros', charged_micros::text) || case when price_rule_id is null then '{}'::jsonb else jsonb_build_object(
        'price_rule', price_rule_id, 'price_list', (select r.list_id from price_list_rule r where r.id = price_rule_id)) end)
  from transitioned
), summed as (
  insert into usage_daily as d (account_id, day, model, api_key_id, kind, requests, failed_requests, amount_micros, quantity)
  select account_id, (now() at time zone 'utc')::date, model, api_key_id, medium, 1,
    case when state = 'completed' then 0 else 1 end, charged_micros, $6::bigint
  from transitioned join paid on paid.id = transitioned.account_id
  on conflict (account_id, day, model, api_key_id) do update set requests = d.requests + 1,
    failed_requests = d.failed_requests + excluded.failed_requests,
    amount_micros = d.amount_micros + excluded.amount_micros, quantity = d.quantity + excluded.quantity
), summed_by_tag as (
  insert into usage_daily_by_tag as d (account_id, tag, day, requests, failed_requests, amount_micros, quantity)
  select p.id, counted.tag, (now() at time zone 'utc')::date, 1, (m.state <> 'completed')::integer, m.charged_micros, $6::bigint
  from transitioned m join paid p on p.id = m.account_id cross join lateral counted_tags(p.id, m.tags) as counted(tag)
  where m.tags is not null
  on conflict (account_id, tag, day) do update set requests = d.requests + excluded.requests,
    failed_requests = d.failed_requests + excluded.failed_requests,
    amount_micros = d.amount_micros + excluded.amount_micros, quantity = d.quantity + excluded.quantity
)
select medium, model, state, error_code, extract(epoch from now() - created_at)::float8 as total_seconds,
  extract(epoch from now() - produced_at)::float8 as visible_seconds,
  account_id, api_key_id, request_id, provider as upstream_id, attempt, charged_micros, cost_micros, cost_unit, cost_worth_micros
from transitioned`;

const SETTLE_TASK = settleTask(`
  insert into webhook_delivery (id, account_id, endpoint_id, task_id, event_type, url, payload, next_attempt_at)
  select $13 || row_number() over (), account_id, endpoint_id, id, event_type, url, '', now()
  from (
    select m.account_id, e.id as endpoint_id, m.id, 'task.' || m.state as event_type, e.url
    from transitioned m join webhook_endpoint e on e.account_id = m.account_id and e.disabled_at is null
      and (e.event_types = '{}' or 'task.' || m.state = any(e.event_types))
    union all
    select account_id, null, id, 'task.' || state, webhook_url from transitioned where webhook_url is not null
  ) addressed
  on conflict do nothing`);

/** The same where the webhooks could not be written, which must not keep a task open: a note of why, $13, stands in their place. */
const SETTLE_UNANNOUNCED = settleTask(`
  insert into task_event (task_id, attempt, kind, detail) select id, attempt, 'unannounced', $13 from transitioned`);
