import { type MediaProvider, type OperationState, ProviderError, type TaskFailureCode } from '#contracts';
import { type CrashPoints, logger } from '#platform';
import { Loop } from './loop.js';
import type { DuePoll, PollSchedule } from './poll-schedule.js';
import type { SettleTaskService } from './settle-task.service.js';
import type { TaskMoves } from './task-moves.js';
import type { UpstreamLimits } from './upstream-limits.js';
import { storableState, storableText, waitMsOf } from './vendor-answers.js';

const log = logger('generation');

/** Bounds of asking one vendor. Times in milliseconds. */
export const POLLING = {
  /** The most operations claimed at once. */
  batch: 500,
  /** The most questions under way at once in one process. */
  inFlight: 500,
  /** The pause when little was due. */
  idleMs: 100,
  /** The longest one question may take, as a part of the lease. */
  timeoutShare: 0.5,
  /** The same for telling a vendor to stop. A question comes behind it, and both fit into the lease. */
  cancelTimeoutShare: 0.3,
  /** How long a vendor is left alone that refused for its rate and named no time. */
  pauseMs: 2_000,
  /** Longest time between two looks at an operation. With it, finished work is noticed in 2 s at the 95th percentile. */
  longestDelayMs: 1_200,
} as const;

/** Progress that a vendor can report; the rest is for copying the files. */
const VENDOR_PROGRESS_MAX = 94;

/** How long until the next look at a vendor that gave no hint: quickly at first, then more patiently, with jitter. */
export function pollDelayMs(polls: number, random: () => number = Math.random): number {
  const middle = Math.min(POLLING.longestDelayMs, 300 * 1.3 ** Math.min(polls, 20));
  return Math.round(middle * (0.9 + random() / 5));
}

/** What came of telling a vendor to stop; `unanswered`: nobody knows yet. */
type CancelOutcome = 'cancelled' | 'too_late' | 'unsupported' | 'unanswered';

/** What a lane works with. */
export interface PollLaneParts {
  readonly schedule: PollSchedule;
  readonly moves: TaskMoves;
  readonly settlement: SettleTaskService;
  readonly limits: UpstreamLimits;
  readonly crashPoints: CrashPoints;
  /** How long a claimed poll is ours; if this process dies, another asks after that time. */
  readonly leaseMs: number;
}

/** Asks one vendor how its operations go. A question that hangs holds up neither the other questions nor other vendors. */
export class PollLane {
  private readonly loop: Loop;
  private readonly underWay = new Set<Promise<void>>();

  constructor(
    private readonly provider: MediaProvider,
    private readonly parts: PollLaneParts,
  ) {
    this.loop = new Loop(`poll-${provider.id}`, POLLING.idleMs, () => this.askDue());
  }

  start(): void {
    this.loop.start();
  }

  /** Resolves when the questions under way are answered. */
  async stop(): Promise<void> {
    await this.loop.stop();
    await Promise.all(this.underWay);
  }

  /** True when more may be due at once. */
  private async askDue(): Promise<boolean> {
    const wanted = await this.allowed(Math.min(POLLING.batch, POLLING.inFlight - this.underWay.size));
    if (wanted === 0) return false;
    const due = await this.parts.schedule.claim(this.provider.id, wanted, this.parts.leaseMs);
    if (due.length > 0) this.parts.crashPoints.reach('after-poll-claim');
    for (const poll of due) {
      const asked = this.ask(poll).finally(() => this.underWay.delete(asked));
      this.underWay.add(asked);
    }
    return due.length === wanted;
  }

  /** How many questions the vendor's limits leave of those that fit. */
  private async allowed(fitting: number): Promise<number> {
    const { id, checksPerSecond } = this.provider;
    if (fitting <= 0 || (await this.parts.limits.pausedMs(id, 'check')) > 0) return 0;
    return checksPerSecond === undefined
      ? fitting
      : this.parts.limits.take(id, 'check', Math.min(fitting, Math.ceil(checksPerSecond)), checksPerSecond);
  }

  /** Never throws: what goes wrong is asked again. */
  private async ask(poll: DuePoll): Promise<void> {
    try {
      if (poll.cancelRequested && (await this.cancel(poll))) return;
      const signal = AbortSignal.timeout(this.parts.leaseMs * POLLING.timeoutShare);
      const state = await this.provider.check(poll.operation, signal);
      this.parts.crashPoints.reach('after-vendor-check');
      await this.apply(poll, storableState(state));
    } catch (error) {
      await this.askFailed(poll, error).catch((failure: unknown) =>
        log.error('upstream.check_lost', { taskId: poll.taskId, error: failure }),
      );
    }
  }

  /** True when the vendor stopped and the task has ended. The wish stands while the vendor gives no answer to it. */
  private async cancel(poll: DuePoll): Promise<boolean> {
    const { moves, settlement } = this.parts;
    const outcome = await this.askToStop(poll);
    if (outcome === 'unanswered') return false;
    if (outcome === 'cancelled') {
      await this.ended(poll, settlement.cancel(poll.taskId, ['running']));
      return true;
    }
    await moves.refuseCancel(poll.taskId, outcome);
    return false;
  }

  /** A vendor that cannot be told to stop can still be asked how it goes, so a failure here ends nothing. */
  private async askToStop({ taskId, operation }: DuePoll): Promise<CancelOutcome> {
    if (!this.provider.cancel) return 'unsupported';
    try {
      const signal = AbortSignal.timeout(this.parts.leaseMs * POLLING.cancelTimeoutShare);
      return await this.provider.cancel(operation, signal);
    } catch (error) {
      log.warn('upstream.cancel_failed', { taskId, provider: this.provider.id, error });
      return 'unanswered';
    }
  }

  private failed(poll: DuePoll, code: TaskFailureCode, reason: string): Promise<void> {
    const task = { id: poll.taskId, outputs: null };
    return this.ended(poll, this.parts.settlement.failUnclaimed(task, ['running'], code, reason));
  }

  /** Whoever ended the task before us may have done so before the schedule had its row. */
  private async ended({ taskId }: DuePoll, settled: Promise<boolean>): Promise<void> {
    if (!(await settled)) await this.parts.schedule.drop(taskId);
  }

  private async apply(poll: DuePoll, state: OperationState): Promise<void> {
    const { schedule, crashPoints } = this.parts;
    switch (state.state) {
      case 'failed':
        return this.failed(poll, state.code, state.publicReason);
      case 'succeeded':
        await schedule.finish(poll.taskId, state.outputs);
        return crashPoints.reach('after-storing');
      default:
        return this.stillRunning(poll, state);
    }
  }

  /** Whatever an adapter does not know how to name counts as work that goes on: the deadline ends it if nothing else does. */
  private async stillRunning(poll: DuePoll, state: Extract<OperationState, { state: 'pending' }>): Promise<void> {
    const { schedule } = this.parts;
    const { progressPercent, pollDelayMs: hint } = state;
    if (state.state !== 'pending') log.warn('upstream.state_unknown', { taskId: poll.taskId, provider: poll.provider });
    if (progressPercent !== undefined && progressPercent > 0)
      await schedule.reportProgress(poll.taskId, Math.min(VENDOR_PROGRESS_MAX, progressPercent));
    const ownDelayMs = pollDelayMs(poll.polls);
    // A wish to cancel that the vendor left unanswered is not put off for as long as the work itself may take.
    await schedule.again(poll, poll.cancelRequested ? ownDelayMs : (hint ?? ownDelayMs));
  }

  private async askFailed(poll: DuePoll, error: unknown): Promise<void> {
    const { schedule, limits } = this.parts;
    log.warn('upstream.check_failed', { taskId: poll.taskId, provider: poll.provider, error });
    if (error instanceof ProviderError && error.kind === 'final') {
      return this.failed(poll, error.code, storableText(error.publicReason));
    }
    const retryAfterMs = error instanceof ProviderError ? waitMsOf(error.retryAfterMs) : undefined;
    if (retryAfterMs !== undefined) await limits.pause(poll.provider, 'check', retryAfterMs || POLLING.pauseMs);
    await schedule.again(poll, (retryAfterMs ?? 0) + pollDelayMs(poll.polls));
  }
}
