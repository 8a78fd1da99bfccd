import { Inject, Injectable } from '@nestjs/common';
import { entrySql, GatewayError, type LedgerKind, type Micros, type TaskView } from '#contracts';
import { type StatementRunner, timeOrderedId } from '#platform';
import { TASK_NOTIFIER, type TaskNotifier } from '#runtime';
import { AuditedChanges, changeOf, type Operator } from '../audit/audit.js';
import { beyondBooks, lockAccount } from '../billing/ledger/locked-account.js';
import { SpendLimits } from '../billing/ledger/spend-limits.js';
import { CancelTaskService } from '../tasks/cancel/cancel-task.service.js';
import { copyLargeParameters } from '../tasks/large-parameters.js';
import { catalogFamily } from '../tasks/submit/planned-order.js';
import { submitStatement } from '../tasks/submit/submit-statement.js';
import type { TaskRow } from '../tasks/task-row.js';

/** Money to be given back for a task that was charged. */
interface Refund {
  readonly taskId: string;
  /** More than 0; null: all that is left. */
  readonly amountMicros: Micros | null;
  /** Names the case: the same reference again changes nothing. */
  readonly reference: string;
  readonly reason: string;
}

interface Refunded {
  readonly task_id: string;
  readonly entry_id: string;
  readonly amount_micros: Micros;
  /** Of this task, together with earlier ones. */
  readonly refunded_micros: Micros;
  readonly charged_micros: Micros;
  /** True: this reference was booked before, and nothing moved now. */
  readonly replayed: boolean;
}

/** A failed task that was sent again. */
interface Redriven {
  readonly task_id: string;
  readonly new_task_id: string;
}

interface Row extends TaskRow {
  readonly tags: readonly string[] | null;
}

const LOCKED_TASK = `select * from task where id = $1 for update`;
const SUCCESSOR = `
select r.new_task_id, t.state from task_redrive r join task t on t.id = r.new_task_id where r.task_id = $1`;
/** The row of a task as one to be submitted. All its tags are asked for their limits. $1 task, $2 what differs. */
const AGAIN = `select jsonb_build_array(to_jsonb(t) || $2::jsonb)::text as tasks from task t where id = $1`;
const LINK = `insert into task_redrive (task_id, new_task_id, actor, reason) values ($1, $2, $3, $4)`;

/** What operators can do for a task. Each leaves a record in the audit. */
@Injectable()
export class TaskRemediesService {
  constructor(
    private readonly changes: AuditedChanges,
    private readonly cancellation: CancelTaskService,
    @Inject(TASK_NOTIFIER) private readonly notifier: TaskNotifier,
  ) {}

  /**
   * Stops a task, as its owner can.
   *
   * @throws GatewayError as `CancelTaskService.cancel`.
   */
  async cancel(operator: Operator, taskId: string, reason: string | null, signal: AbortSignal): Promise<TaskView> {
    const accountId = await this.changes.runStatements(operator, async (transaction) => {
      const task = await lockTask(transaction, taskId);
      const change = changeOf('task', 'task.cancel_requested', taskId, { state: task.state }, { reason });
      // Nothing changes for a task that has ended.
      return { result: task.account_id, change: task.finished_at ? null : change };
    });
    return this.cancellation.cancel(accountId, taskId, signal);
  }

  /**
   * Gives money back for a task, once for each reference, never more than it was charged. It leaves the usage of the account and
   * the quota of the key, too.
   *
   * @throws GatewayError `task_not_found`; `conflict`: the task was not charged that much, or the reference was used otherwise.
   */
  refund(operator: Operator, refund: Refund): Promise<Refunded> {
    return this.changes.runStatements(operator, async (transaction) => {
      const task = await lockTask(transaction, refund.taskId);
      const account = await lockAccount(transaction, task.account_id);
      const charged = task.charged_micros ?? 0n;
      const before = await refundedOf(transaction, task.id);
      const answer = (entryId: bigint, amount: Micros, refunded: Micros, replayed: boolean): Refunded => ({
        task_id: task.id,
        entry_id: entryId.toString(),
        amount_micros: amount,
        refunded_micros: refunded,
        charged_micros: charged,
        replayed,
      });
      const earlier = await findEarlier(transaction, task, refund);
      if (earlier) return { result: answer(earlier.id, earlier.amount_micros, before, true), change: null };
      if (charged === 0n) throw neverCharged();
      const amount = refund.amountMicros ?? charged - before;
      if (amount <= 0n || amount > charged - before) throw tooMuch();
      if (beyondBooks(amount, account.availableMicros)) throw tooMuch();
      const entryId = await enterRefund(transaction, task, { ...refund, amountMicros: amount }, operator);
      const refunded = before + amount;
      const after = {
        refunded_micros: refunded,
        entry_id: entryId,
        reference: refund.reference,
        reason: refund.reason,
      };
      const change = changeOf('task', 'task.refunded', task.id, { refunded_micros: before }, after);
      return { result: answer(entryId, amount, refunded, false), change };
    });
  }

  /**
   * Sends a failed task again as a new one with a hold of its own, at the price of the first. What failed stays as its
   * owner knows it. One that was sent again is not sent twice: the answer names the task that was made then, unless that failed as well.
   *
   * @throws GatewayError `task_not_found`; `conflict`: it did not fail, or what was asked for is not kept any more;
   * one of `UNPAID_CODES`.
   */
  async redrive(operator: Operator, taskId: string, reason: string | null): Promise<Redriven> {
    const { task, newTaskId, isNew } = await this.changes.runStatements(operator, async (transaction) => {
      const found = await lockTask(transaction, taskId);
      const successor = await successorOf(transaction, taskId);
      if (successor) {
        if (successor.state === 'failed') throw sendThatAgain(successor.new_task_id);
        return { result: { task: found, newTaskId: successor.new_task_id, isNew: false }, change: null };
      }
      expectRedrivable(found);
      const newId = timeOrderedId('task');
      await submitAgain(transaction, found, newId, operator.requestId);
      await transaction.query({ text: LINK, values: [taskId, newId, operator.actor, reason] });
      const change = changeOf(
        'task',
        'task.redriven',
        taskId,
        { error_code: found.error_code },
        { new_task_id: newId, reason },
      );
      return { result: { task: found, newTaskId: newId, isNew: true }, change };
    });
    if (isNew) this.notifier.notify(task.medium, [newTaskId]);
    return { task_id: taskId, new_task_id: newTaskId };
  }
}

async function lockTask(transaction: StatementRunner, taskId: string): Promise<Row> {
  const [task] = (await transaction.query<Row>({ text: LOCKED_TASK, values: [taskId] })).rows;
  if (task) return task;
  throw new GatewayError('task_not_found', `There is no task "${taskId.slice(0, 64)}".`, { param: 'task_id' });
}

async function refundedOf(transaction: StatementRunner, taskId: string): Promise<Micros> {
  const { rows } = await transaction.query<{ refunded: bigint }>({ text: REFUNDED, values: [taskId] });
  return rows[0]?.refunded ?? 0n;
}

async function findEarlier(
  transaction: StatementRunner,
  { id, account_id: accountId }: Row,
  { reference, amountMicros }: Refund,
): Promise<EarlierRefund | null> {
  const values = [accountId, reference];
  const [entry] = (await transaction.query<EarlierRefund>({ text: FIND_REFUND, values })).rows;
  if (!entry) return null;
  if (entry.task_id === id && (amountMicros === null || amountMicros === entry.amount_micros)) return entry;
  throw new GatewayError('conflict', `The reference was used for another ${entry.kind} of this account.`, {
    param: 'reference',
  });
}

const neverCharged = (): GatewayError =>
  new GatewayError('conflict', 'The task was not charged: there is nothing to refund.', { param: 'amount' });

const tooMuch = (): GatewayError =>
  new GatewayError('conflict', 'The amount exceeds what remains to refund of the charge of the task.', {
    param: 'amount',
  });

async function successorOf(
  transaction: StatementRunner,
  taskId: string,
): Promise<{ readonly new_task_id: string; readonly state: string } | undefined> {
  const statement = { text: SUCCESSOR, values: [taskId] };
  return (await transaction.query<{ new_task_id: string; state: string }>(statement)).rows[0];
}

const sendThatAgain = (newTaskId: string): GatewayError =>
  new GatewayError('conflict', `The task was sent again as ${newTaskId}, which failed too: send that one again.`);

const filesGone = (): GatewayError =>
  new GatewayError('conflict', 'The inline files of the task are no longer kept: submit a new order with its files.');

function expectRedrivable({ state, parameters }: Row): void {
  if (state !== 'failed') {
    throw new GatewayError('conflict', `Only a failed task can be sent again; this one is ${state}.`);
  }
  if (Object.keys(parameters).length > 0) return;
  throw new GatewayError('conflict', 'What the task asked for was removed after TASK_CONTENT_RETENTION_DAYS.');
}

/** Submits as usual, but in the transaction that records the actor. */
async function submitAgain(
  transaction: StatementRunner,
  task: Row,
  newTaskId: string,
  requestId: string,
): Promise<void> {
  const changed = {
    id: newTaskId,
    request_id: requestId,
    deadline_seconds: catalogFamily(task.model).deadlineSeconds,
    limited_tags: task.tags,
  };
  const again = await transaction.query<{ tasks: string }>({ text: AGAIN, values: [task.id, JSON.stringify(changed)] });
  const { text } = submitStatement({ hasRepeatable: false, hasLimitedKey: true, hasLimitedTags: task.tags !== null });
  const statement = { text, values: [again.rows[0]?.tasks] };
  const { rows } = await transaction.query<{ accepted: boolean; at_limit: boolean }>(statement);
  if (!rows[0]?.accepted) {
    const payer = { accountId: task.account_id, apiKeyId: task.api_key_id, limitedTags: task.tags ?? [] };
    const lacking = rows[0]?.at_limit === true ? 'quota' : 'balance';
    throw await new SpendLimits(transaction).refusal(lacking, payer, task.hold_micros);
  }
  if (!(await copyLargeParameters(transaction, task, newTaskId))) throw filesGone();
}

/** An entry of the ledger under a reference, and the task it was for if it is a refund. */
interface EarlierRefund {
  readonly id: bigint;
  readonly kind: LedgerKind;
  readonly amount_micros: bigint;
  readonly task_id: string | null;
}

/** $1 account, $2 reference. */
const FIND_REFUND = `
select e.id, e.kind, e.amount_micros, r.task_id from ledger_entry e left join task_refund r on r.entry_id = e.id
where e.account_id = $1 and e.reference = $2`;

/** $1 task. */
const REFUNDED = `
select coalesce(sum(amount_micros), 0)::bigint as refunded from task_refund where task_id = $1`;

/**
 * $1 task id, $2 amount, $3 reference, $4 reason, $5 actor, $6 id of the usage record, $7 id of the operator's request. The money, the
 * sums that follow from the ledger and the record that explains it, in one statement. It counts for the day on which it
 * was given: days that are over are summed up already.
 */
const ENTER_REFUND = `
with refunded as (
  select * from task where id = $1
), entered as (
  insert into ledger_entry (account_id, api_key_id, request_id, kind, debit, credit, amount_micros, reference, note)
  select account_id, api_key_id, request_id, ${entrySql('refund')}, $2::bigint, $3, $4 from refunded
  returning id
), noted as (
  insert into task_refund (entry_id, task_id, amount_micros, actor, reason) select id, $1, $2::bigint, $5, $4 from entered
), paid as (
  update account a set available_micros = a.available_micros + $2::bigint, used_micros = a.used_micros - $2::bigint
  from refunded r where a.id = r.account_id
), keyed as (
  update api_key k set used_micros = k.used_micros - $2::bigint from refunded r where k.id = r.api_key_id
), explained as (
  insert into usage_record (id, account_id, api_key_id, kind, model, task_id, request_id, upstream, status, amount_micros, session,
    agent, end_user, tags, lines)
  select $6, account_id, api_key_id, medium, model, id, $7, provider, 'refunded', -$2::bigint, session, agent, end_user, tags,
    jsonb_build_array(jsonb_build_object('source', 'refund', 'reference', $3::text, 'amount_micros', (-$2::bigint)::text))
  from refunded
), summed as (
  insert into usage_daily as d (account_id, day, model, api_key_id, kind, amount_micros)
  select account_id, (now() at time zone 'utc')::date, model, api_key_id, medium, -$2::bigint from refunded
  on conflict (account_id, day, model, api_key_id) do update set amount_micros = d.amount_micros + excluded.amount_micros
), summed_by_tag as (
  insert into usage_daily_by_tag as d (account_id, tag, day, amount_micros)
  select account_id, counted.tag, (now() at time zone 'utc')::date, -$2::bigint
  from refunded cross join lateral counted_tags(account_id, tags) as counted(tag) where tags is not null
  on conflict (account_id, tag, day) do update set amount_micros = d.amount_micros + excluded.amount_micros
)
select id from entered`;

/** Books a refund whose account is locked, and answers the id of its entry. */
async function enterRefund(
  transaction: StatementRunner,
  task: { readonly id: string },
  refund: { readonly amountMicros: Micros; readonly reference: string; readonly reason: string },
  { actor, requestId }: Operator,
): Promise<bigint> {
  const { amountMicros, reference, reason } = refund;
  const values = [task.id, amountMicros, reference, reason, actor, timeOrderedId('usage'), requestId];
  const { rows } = await transaction.query<{ id: bigint }>({ text: ENTER_REFUND, values });
  return rows[0]?.id ?? 0n;
}
