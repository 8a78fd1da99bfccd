import { Inject, Injectable } from '@nestjs/common';
import { GatewayError, type Micros, type TaskView } from '#contracts';
import { brokeConstraint, type StatementRunner, timeOrderedId } from '#platform';
import { TASK_NOTIFIER, type TaskNotifier } from '#runtime';
import { beyondBooks, lockAccount } from '../billing/ledger/locked-account.js';
import { AuditedChanges, type Operator } from '../audit/audit.js';
import { CancelTaskService } from '../tasks/cancel/cancel-task.service.js';
import { insufficientBalance, insufficientKeyQuota } from '../billing/ledger/payment-refusals.js';
import { SpendLimits } from '../billing/ledger/spend-limits.js';
import { copyLargeParameters } from '../tasks/large-parameters.js';
import { catalogFamily } from '../tasks/submit/planned-order.js';
import { submitStatement, toSubmitRow } from '../tasks/submit/submit-statement.js';
import type { TaskRow } from '../tasks/task-row.js';
import { enterRefund, type EarlierRefund, FIND_REFUND, REFUNDED } from './refund-statements.js';

/** Money to be given back for a task that was charged. */
export interface Refund {
  readonly taskId: string;
  /** More than 0; null: all that is left. */
  readonly amountMicros: Micros | null;
  /** Names the case: the same reference again changes nothing. */
  readonly reference: string;
  readonly reason: string;
}

/** The result. */
export interface Refunded {
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
export interface Redriven {
  readonly task_id: string;
  readonly new_task_id: string;
}

type Row = TaskRow & { readonly price_id: string; readonly webhook_url: string | null; readonly priority: number };

const LOCKED_TASK = `select * from task where id = $1 for update`;
const SUCCESSOR = `
select r.new_task_id, t.state from task_redrive r join task t on t.id = r.new_task_id where r.task_id = $1`;
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
      const change = changeOf('task.cancel_requested', taskId, { state: task.state }, { reason });
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
      const change = changeOf('task.refunded', task.id, { refunded_micros: before }, after);
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

const changeOf = (action: string, subjectId: string, before: object, after: object) =>
  ({ action, subjectType: 'task', subjectId, before, after }) as const;

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
  new GatewayError(
    'conflict',
    'The inline files of the task are not kept any more: send the order anew, with its files.',
  );

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
  const row = toSubmitRow({
    id: newTaskId,
    accountId: task.account_id,
    apiKeyId: task.api_key_id,
    requestId,
    medium: task.medium,
    path: task.path as Parameters<typeof toSubmitRow>[0]['path'],
    family: task.family,
    model: task.model,
    mode: task.mode,
    parameters: task.parameters,
    notices: task.notices,
    billing: billingOf(task),
    priceId: task.price_id,
    holdMicros: task.hold_micros,
    priority: task.priority,
    deadlineSeconds: catalogFamily(task.model).deadlineSeconds,
    webhookUrl: task.webhook_url,
  });
  try {
    const { text } = submitStatement({ hasRepeatable: false, hasLimitedKey: true });
    const statement = { text, values: [JSON.stringify([row])] };
    const { rows } = await transaction.query<{ accepted: boolean }>(statement);
    if (!rows[0]?.accepted) {
      const reached = await new SpendLimits(transaction).refusal(task.account_id, task.api_key_id, task.hold_micros);
      throw reached ?? insufficientBalance(task.account_id, task.hold_micros);
    }
    if (!(await copyLargeParameters(transaction, task, newTaskId))) throw filesGone();
  } catch (error) {
    throw brokeConstraint(error, 'api_key_within_quota') ? insufficientKeyQuota() : error;
  }
}

const billingOf = (task: Row): Parameters<typeof toSubmitRow>[0]['billing'] => ({
  unit: task.billing_unit as Parameters<typeof toSubmitRow>[0]['billing']['unit'],
  variant: task.billing_variant,
  settle: task.billing_settle,
  quantity: task.quantity,
});
