import type { Medium, Operation, ProviderOutput, QueueName } from '#contracts';
import { Database, retryOnConnectionError } from '#platform';
import type { TaskRow } from '../tasks/task-row.js';
import * as statements from './task-statements.js';

/** How long a worker owns a claimed task without renewing, in milliseconds. A dead worker's tasks wait this long. */
export const LEASE_MS = 15_000;

/** A vendor operation whose turn to be asked has come. */
export interface DuePoll {
  readonly taskId: string;
  readonly provider: string;
  readonly operation: Operation;
  /** How often it was asked before, this time included. */
  readonly polls: number;
}

/** An open task past its deadline. `startedUpstream`: the vendor may hold work for it. */
export interface OverdueTask {
  readonly id: string;
  readonly state: TaskRow['state'];
  readonly startedUpstream: boolean;
}

/** Every move of a task but the last, as a method; each answers whether it was this call that made the move. */
export class TaskMoves {
  constructor(
    private readonly database: Database,
    private readonly owner: string,
  ) {}

  /** Takes a task for this worker, or null when it is not to be had: taken, finished, or not there. */
  async claim(taskId: string): Promise<TaskRow | null> {
    const [row] = await this.run<TaskRow>('claim_one', statements.CLAIM_ONE, [taskId, this.owner, LEASE_MS]);
    return row ?? null;
  }

  /** Takes up to `limit` tasks that are due and that nobody works on. */
  claimDue(medium: Medium, limit: number): Promise<TaskRow[]> {
    return this.run<TaskRow>('claim_due', statements.CLAIM_DUE, [medium, this.owner, LEASE_MS, limit]);
  }

  renewLease(task: TaskRow): Promise<boolean> {
    return this.moved('renew_lease', statements.RENEW_LEASE, [task.id, task.attempt, LEASE_MS]);
  }

  recordStartIntent(task: TaskRow, provider: string): Promise<boolean> {
    return this.moved('record_start_intent', statements.RECORD_START_INTENT, [task.id, task.attempt, provider]);
  }

  setRunning(task: TaskRow, provider: string, operation: Operation, firstPollMs: number): Promise<boolean> {
    const values = [task.id, task.attempt, operation, provider, Math.round(firstPollMs)];
    return this.moved('set_running', statements.SET_RUNNING, values);
  }

  async recordOrphan(taskId: string, provider: string, operation: Operation): Promise<void> {
    await this.run('record_orphan', statements.RECORD_ORPHAN, [taskId, provider, operation]);
  }

  requeue(task: TaskRow, reason: string, delayMs: number): Promise<boolean> {
    return this.moved('requeue', statements.REQUEUE, [task.id, task.attempt, reason, Math.round(delayMs)]);
  }

  retryLater(task: TaskRow, reason: string, delayMs: number): Promise<boolean> {
    return this.moved('retry_later', statements.RETRY_LATER, [task.id, task.attempt, reason, Math.round(delayMs)]);
  }

  awaitDeadline(task: TaskRow, reason: string): Promise<boolean> {
    return this.moved('await_deadline', statements.AWAIT_DEADLINE, [task.id, task.attempt, reason]);
  }

  async claimPolls(limit: number, againInMs: number): Promise<DuePoll[]> {
    const rows = await this.run<{ task_id: string; provider: string; operation: Operation; polls: number }>(
      'claim_polls',
      statements.CLAIM_POLLS,
      [limit, Math.round(againInMs)],
    );
    return rows.map(({ task_id: taskId, ...poll }) => ({ taskId, ...poll }));
  }

  async reschedulePoll(taskId: string, delayMs: number): Promise<void> {
    await this.run('reschedule_poll', statements.RESCHEDULE_POLL, [taskId, Math.round(delayMs)]);
  }

  async setProgress(taskId: string, percent: number): Promise<void> {
    await this.run('set_progress', statements.SET_PROGRESS, [taskId, Math.round(percent)]);
  }

  async rebuildPolls(): Promise<void> {
    await this.run('rebuild_polls', statements.REBUILD_POLLS, []);
  }

  /** Answers the queue to ring, or null when the task had moved on. */
  async setStoring(taskId: string, outputs: readonly ProviderOutput[]): Promise<QueueName | null> {
    const values = [taskId, JSON.stringify(outputs)];
    const [row] = await this.run<{ medium: Medium }>('set_storing', statements.SET_STORING, values);
    return row?.medium ?? null;
  }

  async pastDeadline(medium: Medium, limit: number): Promise<OverdueTask[]> {
    const rows = await this.run<{ id: string; state: TaskRow['state']; started_upstream: boolean }>(
      'past_deadline',
      statements.PAST_DEADLINE,
      [medium, limit],
    );
    return rows.map(({ started_upstream: startedUpstream, ...task }) => ({ ...task, startedUpstream }));
  }

  private async moved(name: string, text: string, values: unknown[]): Promise<boolean> {
    return (await this.run(name, text, values)).length > 0;
  }

  /** Every statement is safe to repeat, so a lost connection is simply tried again. */
  private async run<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    const { rows } = await retryOnConnectionError(() => this.database.query<Row>({ name, text, values }));
    return rows;
  }
}
