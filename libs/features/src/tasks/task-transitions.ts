import { createHash } from 'node:crypto';
import type { JsonObject, Medium, Operation, UpstreamOutput, StateBefore, VendorCost } from '#contracts';
import { Database, retryOnConnectionError } from '#platform';
import { type TaskSignals } from '#runtime';
import type { ClaimLimits } from './start/admission-controller.js';
import { withLargeParameters } from './large-parameters.js';
import {
  type AllowanceTake,
  intendedOutcome,
  type Intended,
  type IntentOutcome,
  intendWithinLimits,
  type StartIntent,
} from './start/start-statements.js';
import type { ClaimedTask, TaskRow } from './task-row.js';
import { taskLog } from './task-log.js';
import * as starts from './start/start-statements.js';
import * as statements from './task-statements.js';

/** An open task past its deadline. `startedUpstream`: the vendor may hold work for it. */
export interface OverdueTask {
  readonly id: string;
  readonly state: StateBefore<'failed'>;
  readonly attempt: number;
  readonly upstream_id: string | null;
  readonly operation: JsonObject | null;
  readonly outputs: UpstreamOutput[] | null;
  readonly startedUpstream: boolean;
  readonly model: string;
  readonly accountId: string;
  readonly cancelRequested: boolean;
}

/** What is tried again, and whether the try that failed counts against the task. */
export interface Retry {
  readonly reason: string;
  readonly delayMs: number;
  /** False when the task itself is not at fault: a busy vendor, a full disk. Such tries end at the deadline. */
  readonly counts: boolean;
}

/** A line says why a task waits, unless another worker has it by now. */
function noted(task: TaskRow, retry: Retry, changed: boolean): boolean {
  if (changed) taskLog.waiting(task, retry);
  return changed;
}

const orLost = (recorded: boolean): IntentOutcome => (recorded ? 'recorded' : 'lost');
/** What an order costs: as the vendor reported, and as its operator configured it. */
export interface KnownCosts {
  readonly reported?: VendorCost | undefined;
  readonly configured?: VendorCost | undefined;
}

/** An order that a vendor took. */
export interface TakenWork {
  readonly upstreamId: string;
  readonly vendorAccount: string;
  /** The vendor's own; undefined where operations cannot be mixed up. */
  readonly name: string | undefined;
  readonly operation: Operation;
  readonly firstCheckMs: number;
  readonly costs: KnownCosts;
}

/**
 * Micros of the cost, its unit, what it is worth if the vendor reported it, whether the vendor reported it, what the
 * configured one is worth.
 */
function costValues({ reported, configured }: KnownCosts): unknown[] {
  const cost = reported ?? configured;
  return [
    cost?.micros ?? null,
    cost?.unit ?? null,
    reported?.worthMicros ?? null,
    reported !== undefined,
    configured?.worthMicros ?? null,
  ];
}
const NO_LIMITS: ClaimLimits = { closed: [], most: {} };

/** Every move of a task but the last, as a method; each answers whether it was this call that made the move. */
export class TaskTransitions {
  constructor(
    private readonly database: Database,
    private readonly signals: TaskSignals,
    private readonly owner: string,
    /** How long this worker owns a claimed task without renewing. A dead worker's tasks wait this long. */
    private readonly leaseMs: number,
  ) {}

  /**
   * Takes up to `limit` tasks that are due and not leased: begun steps first, then the fairest queued. `rooms`: of some
   * accounts, the most queued ones that are taken.
   */
  async claimDue(
    medium: Medium,
    limit: number,
    { closed, most }: ClaimLimits = NO_LIMITS,
    rooms: Readonly<Record<string, number>> = {},
  ): Promise<ClaimedTask[]> {
    const values = [medium, this.owner, this.leaseMs, limit, closed, most, rooms];
    const tasks = await this.run<ClaimedTask>('claim_due', statements.CLAIM_DUE, values);
    for (const task of tasks) taskLog.claimed(task);
    // Nobody sees that the files of a finished order are taken in hand.
    const started = tasks.filter(({ state }) => state === 'submitting');
    if (started.length > 0) this.signals.publish(started.map(({ id }) => id));
    return tasks;
  }

  /** Takes the one task that must be run alone, if it has been due for `dueMs`. */
  async claimSuspect(medium: Medium, dueMs: number): Promise<ClaimedTask | null> {
    const values = [medium, this.owner, this.leaseMs, dueMs];
    const [task] = await this.run<ClaimedTask>('claim_suspect', statements.CLAIM_SUSPECT, values);
    if (task) this.signals.publish([task.id]);
    return task ?? null;
  }

  /** The task with all that it asks for: a claim leaves long texts where they are. */
  async withLargeParameters(task: ClaimedTask): Promise<ClaimedTask> {
    return { ...task, parameters: await withLargeParameters(this.database, task.id, task.parameters) };
  }

  /** False: the lease was lost. */
  beginStep(task: TaskRow): Promise<boolean> {
    return this.transitioned('begin_step', statements.BEGIN_STEP, [task.id, task.attempt, this.owner]);
  }

  async giveBack(medium: Medium): Promise<void> {
    await this.run('give_back', statements.GIVE_BACK, [medium, this.owner]);
  }

  renewLease(task: TaskRow): Promise<boolean> {
    return this.transitioned('renew_lease', statements.RENEW_LEASE, [task.id, task.attempt, this.leaseMs, this.owner]);
  }

  /** A third of the lease: two renewals may fail before it is lost. */
  get renewalMs(): number {
    return this.leaseMs / 3;
  }

  recordStartIntent({ id, attempt }: TaskRow, intent: StartIntent): Promise<IntentOutcome> {
    const { upstream, ticket, below, within, isFallback } = intent;
    const values = [id, attempt, upstream, ticket];
    if (isFallback)
      return this.run<Intended>('record_stand_in_intent', starts.RECORD_STAND_IN_INTENT, values).then(intendedOutcome);
    if (below ?? within) return retryOnConnectionError(() => intendWithinLimits(this.database, values, intent));
    return this.transitioned('record_start_intent', starts.RECORD_START_INTENT, values).then(orLost);
  }

  /** The upstream certainly did not take the order. A process that dies before this leaves a little less of the allowance, never more. */
  async giveBackAllowance(task: TaskRow, { upstream, costMicros }: AllowanceTake): Promise<void> {
    await this.run('give_back_allowance', starts.GIVE_BACK_ALLOWANCE, [upstream, costMicros, task.id]);
  }

  recordStartEnd(task: TaskRow): Promise<boolean> {
    return this.transitioned('record_start_end', statements.RECORD_START_END, [task.id, task.attempt]);
  }

  /** `anothers`: the vendor had given the name to another order before, and the task is as it was. */
  async setRunning(
    { id, attempt }: TaskRow,
    { upstreamId, vendorAccount, name, operation, firstCheckMs, costs }: TakenWork,
  ): Promise<'running' | 'anothers' | 'lost'> {
    const hash = name === undefined ? null : createHash('sha256').update(`${vendorAccount}\n${name}`).digest();
    const values = [id, attempt, operation, upstreamId, Math.round(firstCheckMs), ...costValues(costs), hash];
    const [taken] = await this.run<{ id: string | null; is_anothers: boolean }>(
      'set_running',
      starts.SET_RUNNING,
      values,
    );
    if (taken?.is_anothers === true) return 'anothers';
    return taken?.id ? 'running' : 'lost';
  }

  /** The vendor answered with the files at once. */
  setFinished(
    task: TaskRow,
    upstreamId: string,
    outputs: readonly UpstreamOutput[],
    costs: KnownCosts,
  ): Promise<boolean> {
    const values = [task.id, task.attempt, JSON.stringify(outputs), upstreamId, ...costValues(costs)];
    return this.changed(task.id, this.transitioned('set_finished', starts.SET_FINISHED, values));
  }

  /** False: it was lost before, or the task has moved on. */
  repeatLostCall(task: TaskRow, reason: string): Promise<boolean> {
    return this.transitioned('repeat_lost_call', starts.REPEAT_LOST_CALL, [task.id, task.attempt, reason]);
  }

  /** Returns whether the task has ended, so that the vendor's work is no longer needed. */
  async recordOrphan(taskId: string, upstreamId: string, operation: Operation): Promise<boolean> {
    const values = [taskId, upstreamId, operation];
    const [orphan] = await this.run<{ unwanted: boolean }>('record_orphan', starts.RECORD_ORPHAN, values);
    return orphan?.unwanted ?? false;
  }

  async resolveOrphan(taskId: string, operation: Operation): Promise<void> {
    await this.run('resolve_orphan', starts.RESOLVE_ORPHAN, [taskId, operation]);
  }

  /** Only when the vendor certainly did not take the order. */
  async requeue(task: TaskRow, retry: Retry): Promise<boolean> {
    const requeued = this.transitioned('requeue', statements.REQUEUE, retryValues(task, retry));
    return noted(task, retry, await this.changed(task.id, requeued));
  }

  /** The same step again, which keeps the record of an earlier start. */
  async retryLater(task: TaskRow, retry: Retry): Promise<boolean> {
    return noted(task, retry, await this.transitioned('retry_later', statements.RETRY_LATER, retryValues(task, retry)));
  }

  awaitDeadline(task: TaskRow, reason: string): Promise<boolean> {
    return this.transitioned('await_deadline', statements.AWAIT_DEADLINE, [task.id, task.attempt, reason]);
  }

  /** False: no vendor holds the task, or not any more. */
  requestCancel(taskId: string, accountId: string): Promise<boolean> {
    return this.changed(taskId, this.transitioned('request_cancel', statements.REQUEST_CANCEL, [taskId, accountId]));
  }

  async refuseCancel(taskId: string, outcome: 'too_late' | 'unsupported'): Promise<void> {
    await this.changed(taskId, this.transitioned('refuse_cancel', statements.REFUSE_CANCEL, [taskId, outcome]));
  }

  pastDeadline(medium: Medium, limit: number): Promise<OverdueTask[]> {
    return this.run<OverdueTask>('past_deadline', statements.PAST_DEADLINE, [medium, limit]);
  }

  private async changed(taskId: string, transition: Promise<boolean>): Promise<boolean> {
    const transitioned = await transition;
    if (transitioned) this.signals.publish([taskId]);
    return transitioned;
  }

  private async transitioned(name: string, text: string, values: unknown[]): Promise<boolean> {
    return (await this.run(name, text, values)).length > 0;
  }

  /** Every statement is safe to repeat, so a lost connection is simply tried again. */
  private async run<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    const { rows } = await retryOnConnectionError(() => this.database.query<Row>({ name, text, values }));
    return rows;
  }
}

const retryValues = (task: TaskRow, { reason, delayMs, counts }: Retry): unknown[] => [
  task.id,
  task.attempt,
  reason,
  Math.round(delayMs),
  counts ? 1 : 0,
];
