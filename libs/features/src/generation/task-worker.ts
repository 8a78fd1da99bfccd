import type { Medium } from '#contracts';
import { type CrashPoints, type Listening, logger, type TaskDoorbell, withLogContext } from '#platform';
import type { ClaimedTask } from '../tasks/task-row.js';
import type { AdvanceTaskService } from './advance-task.service.js';
import { Loop } from './loop.js';
import type { TaskMoves } from './task-moves.js';
import { WorkSlots } from './work-slots.js';

const log = logger('generation');

/** How often a worker looks for due tasks that no bell announced, in milliseconds. */
const SWEEP_MS = 500;

/**
 * Works on the tasks of one medium. A bell is only the permission to look: what is taken is whatever is due and fairest,
 * not the task that rang. A sweep twice a second finds what lost its bell.
 */
export class TaskWorker {
  private readonly sweep = new Loop('task-sweep', SWEEP_MS, () => this.claim());
  private readonly abort = new AbortController();
  private readonly slots: WorkSlots;
  private listening: Listening | undefined;
  private claiming: Promise<boolean> | undefined;
  private stopping = false;
  /** The last claim took as much as it could, so that more is likely to wait. */
  private backlog = false;

  constructor(
    private readonly medium: Medium,
    private readonly concurrency: number,
    private readonly moves: TaskMoves,
    private readonly advance: AdvanceTaskService,
    private readonly doorbell: TaskDoorbell,
    private readonly crashPoints: CrashPoints,
  ) {
    this.slots = new WorkSlots(concurrency);
  }

  start(): void {
    this.listening = this.doorbell.listen(this.medium, { concurrency: this.concurrency }, () => this.answer());
    this.sweep.start();
  }

  /**
   * Takes nothing new and gives what is under way up to `graceMs` to reach its end. What is left is aborted at its
   * next safe point; its lease lapses and another worker goes on.
   */
  async stop(graceMs: number): Promise<void> {
    this.stopping = true;
    const timer = setTimeout(() => this.abort.abort(), graceMs);
    await Promise.all([this.listening?.stop(graceMs), this.sweep.stop(), this.lastClaim()]);
    await this.slots.empty();
    clearTimeout(timer);
  }

  /** What a claim under way still takes must have its slot before the slots are waited for. */
  private async lastClaim(): Promise<void> {
    while (this.claiming) await this.claiming.catch(() => undefined);
  }

  /** A worker without a free slot keeps the bell until it has one, so that an idle worker answers the others. */
  private async answer(): Promise<void> {
    await this.slots.available();
    await this.claim();
  }

  /** One claim at a time; bells that ring during it share the next. */
  private async claim(): Promise<boolean> {
    while (this.claiming) await this.claiming;
    this.claiming = this.claimForFreeSlots();
    try {
      return await this.claiming;
    } finally {
      this.claiming = undefined;
    }
  }

  private async claimForFreeSlots(): Promise<boolean> {
    for (;;) {
      const { free } = this.slots;
      if (free === 0 || this.stopping) return false;
      const tasks = await this.moves.claimDue(this.medium, free);
      if (tasks.length > 0) this.crashPoints.reach('after-claim');
      this.backlog = tasks.length === free;
      for (const task of tasks) this.slots.fill(this.work(task));
      // Each account got its even share; what small ones left free is for those with more.
      const accounts = new Set(tasks.map(({ account_id: accountId }) => accountId));
      if (this.backlog || accounts.size < 2) return false;
    }
  }

  private async work(task: ClaimedTask): Promise<void> {
    await withLogContext({ taskId: task.id, requestId: task.request_id }, () => this.advanceWithLease(task));
    // The slot is free again: what waits for one need not wait for the next sweep.
    if (this.backlog)
      setImmediate(() => void this.claim().catch((error: unknown) => log.error('task.claim_failed', { error })));
  }

  /** Keeps the lease while the step runs; a step whose lease was lost is aborted, because somebody else has the task. */
  private async advanceWithLease(task: ClaimedTask): Promise<void> {
    const lost = new AbortController();
    const renewal = setInterval(() => {
      this.moves.renewLease(task).then(
        (ours) => ours || lost.abort(),
        (error: unknown) => log.warn('lease.renewal_failed', { error }),
      );
    }, this.moves.renewalMs);
    try {
      await this.advance.advance(task, AbortSignal.any([this.abort.signal, lost.signal]));
    } catch (error) {
      log.error('task.advance_failed', { error });
    } finally {
      clearInterval(renewal);
    }
  }
}
