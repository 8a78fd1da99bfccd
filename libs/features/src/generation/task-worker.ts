import type { Medium } from '#contracts';
import { type Listening, logger, type TaskDoorbell, withLogContext } from '#platform';
import type { TaskRow } from '../tasks/task-row.js';
import type { AdvanceTaskService } from './advance-task.service.js';
import { Loop } from './loop.js';
import type { SettleTaskService } from './settle-task.service.js';
import { LEASE_MS, type OverdueTask, type TaskMoves } from './task-moves.js';

const log = logger('generation');

/** How often a worker looks for due tasks that no bell announced, in milliseconds. */
const SWEEP_MS = 500;
const OVERDUE_BATCH = 100;

/** Works on the tasks of one medium: those a bell announces, and, by sweeping, those whose bell was lost. */
export class TaskWorker {
  private readonly sweep = new Loop('task-sweep', SWEEP_MS, () => this.sweepDue());
  private readonly abort = new AbortController();
  private readonly underWay = new Set<Promise<void>>();
  private listening: Listening | undefined;

  constructor(
    private readonly medium: Medium,
    private readonly concurrency: number,
    private readonly moves: TaskMoves,
    private readonly settlement: SettleTaskService,
    private readonly advance: AdvanceTaskService,
    private readonly doorbell: TaskDoorbell,
  ) {}

  start(): void {
    this.listening = this.doorbell.listen(this.medium, { concurrency: this.concurrency }, (taskId) =>
      this.answer(taskId),
    );
    this.sweep.start();
  }

  /**
   * Takes nothing new and gives what is under way up to `graceMs` to reach its end. What is left is aborted at its
   * next safe point; its lease lapses and another worker goes on.
   */
  async stop(graceMs: number): Promise<void> {
    const timer = setTimeout(() => this.abort.abort(), graceMs);
    await Promise.all([this.listening?.stop(graceMs), this.sweep.stop()]);
    await Promise.all(this.underWay);
    clearTimeout(timer);
  }

  /** A bell only says that there may be work; the claim decides. */
  private async answer(taskId: string): Promise<void> {
    const task = await this.moves.claim(taskId);
    if (task) await this.work(task);
  }

  private async sweepDue(): Promise<boolean> {
    await this.failOverdue();
    const free = this.concurrency - this.underWay.size;
    if (free <= 0) return false;
    const due = await this.moves.claimDue(this.medium, free);
    for (const task of due) void this.work(task);
    return due.length === free;
  }

  private work(task: TaskRow): Promise<void> {
    const done = withLogContext({ taskId: task.id, requestId: task.request_id }, () =>
      this.advanceWithLease(task),
    ).finally(() => {
      this.underWay.delete(done);
    });
    this.underWay.add(done);
    return done;
  }

  /** Keeps the lease while the step runs; a step whose lease was lost is aborted, because somebody else has the task. */
  private async advanceWithLease(task: TaskRow): Promise<void> {
    const lost = new AbortController();
    const renewal = setInterval(() => {
      this.moves.renewLease(task).then(
        (ours) => ours || lost.abort(),
        (error: unknown) => log.warn('lease.renewal_failed', { error }),
      );
    }, LEASE_MS / 3);
    try {
      await this.advance.advance(task, AbortSignal.any([this.abort.signal, lost.signal]));
    } catch (error) {
      log.error('task.advance_failed', { error });
    } finally {
      clearInterval(renewal);
    }
  }

  private async failOverdue(): Promise<void> {
    const overdue = await this.moves.pastDeadline(this.medium, OVERDUE_BATCH);
    for (const task of overdue) await this.failOne(task);
  }

  private async failOne(task: OverdueTask): Promise<void> {
    const unknown = task.state === 'submitting' && task.startedUpstream;
    await this.settlement.failUnclaimed(
      task.id,
      [task.state],
      unknown ? 'upstream_unknown' : 'deadline_exceeded',
      unknown
        ? 'The vendor never confirmed that it took the order. It was not sent again, and nothing was charged.'
        : 'The task did not finish within its time limit; nothing was charged.',
    );
  }
}
