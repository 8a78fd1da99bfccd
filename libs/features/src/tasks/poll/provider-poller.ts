import { type MediaProvider, type OperationState, ProviderError, type TaskFailureCode } from '#contracts';
import { abortAfter, logger, signals } from '#platform';
import { type Failpoints } from '#runtime';
import { askToStop } from '../cancel/ask-to-stop.js';
import { type HeldPoll, LeasedPolls } from './leased-polls.js';
import { Loop } from '../run/loop.js';
import type { DuePoll, PollSchedule } from './poll-schedule.js';
import type { SettleTaskService } from '../settle/settle-task.service.js';
import { ABANDON_GRACE_MS, endedWithin } from '../run/step-limit.js';
import type { TaskTransitions } from '../task-transitions.js';
import type { UpstreamLimits } from '../run/upstream-limits.js';
import { storableState, storableText, waitMsOf } from './vendor-answers.js';
import { WorkSlots } from '../run/work-slots.js';

const log = logger('generation');

/** Bounds of asking one vendor. Times in milliseconds. */
export const POLLING = {
  /** The most operations claimed at once. */
  batch: 500,
  /** The most questions under way at once in one process. */
  inFlight: 1_000,
  /** The pause when little was due. */
  idleMs: 100,
  /** After so long without an answer a question gets the lease, so that nobody else asks meanwhile. */
  slowMs: 500,
  /** The longest one question may take, as a part of the lease. */
  timeoutShare: 0.5,
  /** The same for telling a vendor to stop. A question comes behind it, and both fit into the lease. */
  cancelTimeoutShare: 0.3,
  /** How long a vendor is left alone that refused for its rate and named no time. */
  pauseMs: 2_000,
  /** Time from one look at an operation to the next. With it, finished work is visible within 2 s at the 95th percentile. */
  steadyDelayMs: 1_200,
  /** The same after the first look; it grows by a third with each, until it is steady. */
  firstDelayMs: 300,
  /** How long a claim holds an operation: the looks of that time cost one write. At most `holdShare` of the lease. */
  holdMs: 7_200,
  holdShare: 0.5,
} as const;

/** Progress that a vendor can report; the rest is for copying the files. */
const VENDOR_PROGRESS_MAX = 94;

/** How long until the next look when the vendor gave no hint: quickly while the first claim holds, then at a steady pace. */
function ownDelayMs({ poll, looks }: HeldPoll): number {
  const early = poll.claims === 1 ? POLLING.firstDelayMs * 1.3 ** looks : Number.POSITIVE_INFINITY;
  return Math.round(Math.min(early, POLLING.steadyDelayMs) * (0.9 + Math.random() / 5));
}

/** What a lane works with. */
export interface ProviderPollerParts {
  readonly schedule: PollSchedule;
  readonly moves: TaskTransitions;
  readonly settlement: SettleTaskService;
  readonly limits: UpstreamLimits;
  readonly failpoints: Failpoints;
  /** How long a question that is slow to be answered is ours; if this process dies, another asks after that time. */
  readonly leaseMs: number;
}

const nothing = (): void => undefined;

/** One look at an operation. */
interface Look extends HeldPoll {
  readonly signal: AbortSignal;
  answered: boolean;
  /** Set once the look got the lease: its claim no longer says when the next turn comes. */
  leased: Promise<void> | null;
  /** Gives up the place of a look that does not end. */
  leave: () => void;
  /** It did not end in its time: what it still says decides nothing. */
  abandoned: boolean;
}

/** Asks one vendor how its operations go. A question that hangs holds up neither the other questions nor other vendors. */
export class ProviderPoller {
  private readonly loop: Loop;
  private readonly slots = new WorkSlots(POLLING.inFlight);
  private readonly inHand = new LeasedPolls();
  private readonly holdMs: number;

  constructor(
    private readonly provider: MediaProvider,
    private readonly parts: ProviderPollerParts,
  ) {
    this.holdMs = Math.min(POLLING.holdMs, parts.leaseMs * POLLING.holdShare);
    this.loop = new Loop(`poll-${provider.id}`, POLLING.idleMs, () => this.askDue());
  }

  start(): void {
    this.loop.start();
  }

  /** Resolves when the questions under way are answered, or `graceMs` are over, and what is held is anybody's again. */
  async stop(graceMs: number): Promise<void> {
    await endedWithin(
      this.loop.stop().then(() => this.slots.empty()),
      graceMs,
    );
    const { schedule } = this.parts;
    const held = this.inHand.letGo(performance.now());
    // What cannot be given back now is anybody's when the hold ends.
    await Promise.allSettled(held.map((poll) => schedule.again(poll, POLLING.steadyDelayMs)));
  }

  /** True when more may be due at once. */
  private async askDue(): Promise<boolean> {
    await this.slots.available();
    const wanted = await this.allowed(Math.min(POLLING.batch, this.slots.free));
    if (wanted === 0) return false;
    const due = await this.takeDue(wanted);
    if (due.length === 0) return false;
    // One clock for all of them: what is taken together is asked together.
    const signal = this.patience();
    const looks = due.map((held): Look => ({
      ...held,
      looks: held.looks + 1,
      signal,
      answered: false,
      leased: null,
      leave: nothing,
      abandoned: false,
    }));
    for (const look of looks) look.leave = this.slots.fill(this.ask(look));
    setTimeout(() => this.leaseSlow(looks), POLLING.slowMs).unref();
    return due.length === wanted;
  }

  /** Half of what is wanted comes from either side while both have enough, so that neither waits for the other to be done. */
  private async takeDue(wanted: number): Promise<HeldPoll[]> {
    const held = this.inHand.takeDue(performance.now(), Math.floor(wanted / 2));
    // Counted from before the claim: the hold ends here before it ends in the schedule.
    const heldUntilMs = performance.now() + this.holdMs;
    const claimed = await this.parts.schedule.claim(this.provider.id, wanted - held.length, this.holdMs);
    if (claimed.length > 0) this.parts.failpoints.reach('after-poll-claim');
    const left = wanted - held.length - claimed.length;
    return [
      ...held,
      ...claimed.map((poll) => ({ poll, looks: 0, heldUntilMs })),
      ...this.inHand.takeDue(performance.now(), left),
    ];
  }

  private leaseSlow(looks: readonly Look[]): void {
    for (const look of looks) {
      if (look.answered) continue;
      look.leased = this.parts.schedule
        .again(look.poll, this.parts.leaseMs)
        .catch((error: unknown) => log.warn('upstream.lease_failed', { taskId: look.poll.taskId, error }));
      const { timeoutShare, cancelTimeoutShare } = POLLING;
      const share = look.poll.cancelRequested ? timeoutShare + cancelTimeoutShare : timeoutShare;
      const graceMs = this.parts.leaseMs * share - POLLING.slowMs + ABANDON_GRACE_MS;
      setTimeout(() => this.abandon(look), Math.max(graceMs, 0)).unref();
    }
  }

  /** A question that goes on although its signal aborted gives up its place. Its lease lets another ask. */
  private abandon(look: Look): void {
    if (look.answered) return;
    look.abandoned = true;
    look.leave();
    signals.stepsAbandoned.inc({ step: 'check' });
    log.error('upstream.check_abandoned', { taskId: look.poll.taskId, provider: look.poll.provider });
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
  private async ask(look: Look): Promise<void> {
    const { poll } = look;
    try {
      if (poll.cancelRequested && (await this.cancel(poll))) return;
      const state = await this.check(look);
      if (look.abandoned) return;
      this.parts.failpoints.reach('after-vendor-check');
      await this.apply(look, state);
    } catch (error) {
      await this.askFailed(look, error).catch((failure: unknown) =>
        log.error('upstream.check_lost', { taskId: poll.taskId, error: failure }),
      );
    }
  }

  private async check(look: Look): Promise<OperationState> {
    const { operation, cancelRequested } = look.poll;
    try {
      // A wish to cancel was put to the vendor first, and took of the time of the others.
      const signal = cancelRequested ? this.patience() : look.signal;
      return storableState(await this.provider.check(operation, signal));
    } finally {
      look.answered = true;
    }
  }

  private patience(): AbortSignal {
    return abortAfter(this.parts.leaseMs * POLLING.timeoutShare);
  }

  /** True when the vendor stopped and the task has ended. The wish stands while the vendor gives no answer to it. */
  private async cancel(poll: DuePoll): Promise<boolean> {
    const { moves, settlement } = this.parts;
    const timeoutMs = this.parts.leaseMs * POLLING.cancelTimeoutShare;
    const outcome = await askToStop(this.provider, poll, timeoutMs);
    if (outcome === 'unanswered') return false;
    if (outcome === 'cancelled') {
      await this.ended(poll, settlement.cancel(poll.taskId, ['running']));
      return true;
    }
    await moves.refuseCancel(poll.taskId, outcome);
    return false;
  }

  private failed(poll: DuePoll, code: TaskFailureCode, reason: string): Promise<void> {
    const task = { id: poll.taskId, outputs: null };
    return this.ended(poll, this.parts.settlement.failUnclaimed(task, ['running'], code, reason));
  }

  /** Whoever ended the task before us may have done so before the schedule had its row. */
  private async ended({ taskId }: DuePoll, settled: Promise<boolean>): Promise<void> {
    if (!(await settled)) await this.parts.schedule.drop(taskId);
  }

  private async apply(look: Look, state: OperationState): Promise<void> {
    const { schedule, failpoints } = this.parts;
    switch (state.state) {
      case 'failed':
        return this.failed(look.poll, state.code, state.publicReason);
      case 'succeeded':
        await schedule.finish(look.poll.taskId, state.outputs);
        return failpoints.reach('after-storing');
      default:
        return this.stillRunning(look, state);
    }
  }

  /** Whatever an adapter does not know how to name counts as work that goes on: the deadline ends it if nothing else does. */
  private async stillRunning(look: Look, state: Extract<OperationState, { state: 'pending' }>): Promise<void> {
    const { taskId, provider, cancelRequested } = look.poll;
    const { progressPercent, pollDelayMs: hint } = state;
    if (state.state !== 'pending') log.warn('upstream.state_unknown', { taskId, provider });
    if (progressPercent !== undefined && progressPercent > 0)
      await this.parts.schedule.reportProgress(taskId, Math.min(VENDOR_PROGRESS_MAX, progressPercent));
    // A wish to cancel that the vendor left unanswered is not put off for as long as the work itself may take.
    await this.nextIn(look, cancelRequested ? ownDelayMs(look) : (hint ?? ownDelayMs(look)));
  }

  private async askFailed(look: Look, error: unknown): Promise<void> {
    if (look.abandoned) return;
    const { taskId, provider } = look.poll;
    log.warn('upstream.check_failed', { taskId, provider, error });
    if (error instanceof ProviderError && error.kind === 'final') {
      return this.failed(look.poll, error.code, storableText(error.publicReason));
    }
    const retryAfterMs = error instanceof ProviderError ? waitMsOf(error.retryAfterMs) : undefined;
    if (retryAfterMs === undefined) return this.nextIn(look, ownDelayMs(look));
    await this.parts.limits.pause(provider, 'check', retryAfterMs || POLLING.pauseMs);
    await this.nextIn(look, retryAfterMs + ownDelayMs(look));
  }

  /**
   * From memory while the operation is held. When the hold ends first the schedule says when, unless the look is to come
   * later than that, or the look got the lease. A wish to cancel goes back to the schedule, which knows whether it stands.
   */
  private async nextIn({ poll, looks, heldUntilMs, leased }: Look, delayMs: number): Promise<void> {
    if (leased === null && !poll.cancelRequested) {
      if (this.inHand.keep({ poll, looks, heldUntilMs }, performance.now() + delayMs)) return;
      if (delayMs <= POLLING.steadyDelayMs) return;
    }
    await leased;
    await this.parts.schedule.again(poll, delayMs);
  }
}
