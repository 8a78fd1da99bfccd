import { Injectable } from '@nestjs/common';
import { isConnectionError, isUnfitError, logger, signals } from '#platform';
import type { ClaimedTask } from '../task-row.js';
import { MAX_FAILURES, mayCrashWorkers } from '../attempts.js';
import { backoffDelayMs } from '../backoff.js';
import { SettleTaskService } from '../settle/settle-task.service.js';
import type { StepAside } from './hand-over.js';
import { StartStep } from './start-step.js';
import { StoreStep } from './store-step.js';
import { TaskTransitions } from '../task-transitions.js';

const log = logger('generation');

/** How long a task waits whose step the database could not write, in milliseconds: soon after it can, and no burden until then. */
const DATABASE_RETRY_MS = 3_000;

/** Does the next step of a claimed task: hands it to its vendor, or stores what the vendor made. */
@Injectable()
export class AdvanceTaskService {
  constructor(
    private readonly transitions: TaskTransitions,
    private readonly settlement: SettleTaskService,
    private readonly start: StartStep,
    private readonly store: StoreStep,
  ) {}

  /** The longest the next step may take, in milliseconds; its parts have shorter limits of their own. */
  limitMs(task: ClaimedTask): number {
    return task.state === 'storing' ? this.store.limitMs : this.start.limitMs(task);
  }

  /**
   * Ends a task whose attempts ended without a word when that was too often, or when its owner has given it up, before
   * anything is risked again. True: it has ended.
   */
  async endsWithoutWork(task: ClaimedTask): Promise<boolean> {
    if (task.state === 'submitting' && (await this.start.stopUnconfirmed(task))) return true;
    if (!mayCrashWorkers(task)) return false;
    log.error('task.parked', { taskId: task.id, lapses: task.lapses });
    signals.tasksParked.inc({ medium: task.medium });
    return this.settlement.fail(
      task,
      'processing_crashed',
      'Work on this task ended the process that did it, again and again; nothing was charged.',
    );
  }

  /** The step did not end in its time. What it may still do is fenced off by the next claim. */
  async overran(task: ClaimedTask): Promise<void> {
    const reason = 'The step did not end within its time.';
    log.error('task.step_overran', { taskId: task.id, attempt: task.attempt, state: task.state });
    if (task.state !== 'storing') return this.again(task, reason);
    // The work is paid for at the vendor, so it is tried until the deadline.
    await this.transitions.retryLater(task, {
      reason,
      delayMs: backoffDelayMs(Math.min(task.failures, 4)),
      counts: true,
    });
  }

  /**
   * Never throws for what goes wrong inside a task: that ends up in the row, as another attempt or as its failure.
   * `signal` stops the step at its next safe point; the lease then lapses and another worker continues. `aside` is called
   * when the step only waits for a vendor.
   */
  async advance(task: ClaimedTask, signal: AbortSignal, aside?: StepAside): Promise<void> {
    try {
      if (task.state === 'submitting') await this.start.run(task, signal, aside);
      else if (task.state === 'storing') await this.store.run(task, signal);
    } catch (error) {
      if (signal.aborted) return;
      log.error('task.step_failed', { taskId: task.id, attempt: task.attempt, error });
      const reason = error instanceof Error ? error.message : String(error);
      // A full disk says nothing about the task, whose work may be paid for: it is tried until its deadline.
      const isOfDatabase = isConnectionError(error) || isUnfitError(error);
      await (isOfDatabase
        ? this.transitions.retryLater(task, { reason, delayMs: DATABASE_RETRY_MS, counts: false })
        : this.again(task, reason));
    }
  }

  /** An unexpected error. It may be temporary; when it does not, the task is parked and the customer gets the money back. */
  private async again(task: ClaimedTask, reason: string): Promise<void> {
    if (task.failures + 1 < MAX_FAILURES) {
      await this.transitions.retryLater(task, { reason, delayMs: backoffDelayMs(task.failures), counts: true });
      return;
    }
    log.error('task.parked', { taskId: task.id, failures: task.failures + 1, reason });
    signals.tasksParked.inc({ medium: task.medium });
    await this.settlement.fail(task, 'parked', 'The gateway could not finish this task; nothing was charged.');
  }
}
