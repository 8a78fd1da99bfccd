import { Injectable } from '@nestjs/common';
import { backoffMs, isConnectionError, isUnfitError, logger, signals } from '#platform';
import type { TaskFailureCode } from '#contracts';
import { reasonOf } from '../../observability/paused-work.js';
import { backoffDelayMs, type ClaimedTask, MAX_FAILURES, mayCrashWorkers } from '../task-row.js';
import { SettleTaskService } from '../settle/settle-task.service.js';
import { StartStep } from '../start/start-step.js';
import { StoreStep } from '../store/store-step.js';
import { TaskTransitions } from '../task-transitions.js';
import type { StepSlot } from '../work-slots.js';

const log = logger('generation');

/** How long a task waits whose step database or disk could not write, in milliseconds: soon after they can, and no burden until then. */
const ROOM_RETRY_MS = 3_000;

/** The machine has no room for more: on its disk, or for open files. */
const isMachineFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE'].includes(String((Object(error) as NodeJS.ErrnoException).code));

/** How long a task waits whose end could not be written: up to an hour. */
const UNWRITTEN = { firstMs: 30_000, longestMs: 3_600_000 };
const unwrittenDelayMs = (failures: number): number => backoffMs(UNWRITTEN, Math.max(0, failures - MAX_FAILURES + 1));

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
   * anything is risked again. True: it has ended, or its end is written later.
   */
  async endsWithoutWork(task: ClaimedTask): Promise<boolean> {
    if (task.state === 'submitting' && (await this.start.stopUnconfirmed(task))) return true;
    if (!mayCrashWorkers(task)) return false;
    const message = 'Processing this task crashed our worker repeatedly; nothing was charged.';
    await this.park(task, 'processing_crashed', message, 'it ended the process that worked on it');
    return true;
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
   * `signal` stops the step at its next safe point; the lease then ends and another worker continues. The step leaves
   * its `slot` while it only waits for others.
   */
  async advance(task: ClaimedTask, signal: AbortSignal, slot?: StepSlot): Promise<void> {
    try {
      if (task.state === 'submitting') await this.start.run(task, signal, slot);
      else if (task.state === 'storing') await this.store.run(task, signal);
    } catch (error) {
      if (signal.aborted) return;
      log.error('task.step_failed', { taskId: task.id, attempt: task.attempt, error });
      const reason = error instanceof Error ? error.message : String(error);
      // A full disk says nothing about the task, whose work may be paid for: it is tried until its deadline.
      const isOfOthers = isConnectionError(error) || isUnfitError(error) || isMachineFull(error);
      await (isOfOthers
        ? this.transitions.retryLater(task, { reason, delayMs: ROOM_RETRY_MS, counts: false })
        : this.again(task, reason));
    }
  }

  /** An unexpected error. It may be temporary; when it does not, the task is parked and the customer gets the money back. */
  private async again(task: ClaimedTask, reason: string): Promise<void> {
    if (task.failures + 1 < MAX_FAILURES) {
      await this.transitions.retryLater(task, { reason, delayMs: backoffDelayMs(task.failures), counts: true });
      return;
    }
    await this.park(task, 'parked', 'The gateway could not finish this task; nothing was charged.', reason);
  }

  /**
   * Gives a task up. An end that cannot be written either is tried again after a growing pause and given up by nobody but the
   * deadline: the worker lives, so that the task must not count as one that killed it.
   */
  private async park(task: ClaimedTask, code: TaskFailureCode, message: string, reason: string): Promise<boolean> {
    try {
      const ended = await this.settlement.fail(task, code, message);
      log.error('task.parked', { taskId: task.id, failures: task.failures + 1, crashes: task.crash_count, reason });
      signals.tasksParked.inc({ medium: task.medium });
      return ended;
    } catch (error) {
      log.error('task.end_failed', { taskId: task.id, error });
      const delayMs = isConnectionError(error) ? ROOM_RETRY_MS : unwrittenDelayMs(task.failures);
      return this.transitions.retryLater(task, { reason: reasonOf(error), delayMs, counts: true });
    }
  }
}
