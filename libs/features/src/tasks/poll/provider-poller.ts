import { MediaFailure, type OperationState, type ResultSpool, type TaskFailureCode, type VendorCost } from '#contracts';
import { abortAfter, logger, signals } from '#platform';
import { askToStop } from '../cancel/ask-to-stop.js';
import { type HeldPoll, LeasedPolls } from './leased-polls.js';
import { Loop } from '../run/loop.js';
import type { DuePoll } from './poll-schedule.js';
import { ABANDON_GRACE_MS, endedWithin } from '../run/step-limit.js';
import type { RoutedUpstream } from '../../media-upstreams/media-upstreams.js';
import { resultSpool } from '../../media-upstreams/result-spool.js';
import { bareTicket, notedCall } from '../../media-upstreams/vendor-call.js';
import { ownDelayMs, POLLING } from './polling-pace.js';
import { storableState, storableText, waitMsOf } from './vendor-answers.js';
import type { WorkerParts } from '../run/worker-parts.js';
import { WorkSlots } from '../run/work-slots.js';

const log = logger('generation');

/** Progress that a vendor can report; the rest is for copying the files. */
const VENDOR_PROGRESS_MAX = 94;

/** What a lane works with. */
export type ProviderPollerParts = Pick<
  WorkerParts,
  'schedule' | 'moves' | 'settlement' | 'limits' | 'failpoints' | 'upstreams' | 'leaseMs' | 'store' | 'storeLimits'
>;

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

  /** @param upstreamId whatever stands behind that name is asked, also when its settings change. */
  constructor(
    readonly upstreamId: string,
    private readonly parts: ProviderPollerParts,
  ) {
    this.holdMs = Math.min(POLLING.holdMs, parts.leaseMs * POLLING.holdShare);
    this.loop = new Loop(`poll-${upstreamId}`, POLLING.idleMs, () => this.askDue());
  }

  private get routed(): RoutedUpstream {
    const routed = this.parts.upstreams.byId(this.upstreamId);
    if (routed) return routed;
    throw new Error(`the upstream ${this.upstreamId} is not configured any more`);
  }

  /** The longest that one question, and telling the vendor to stop, may take. */
  private get timeoutMs(): number {
    return Math.max(this.parts.leaseMs * POLLING.timeoutShare, this.routed.upstream.traits.checkTimeoutMs);
  }

  private get cancelTimeoutMs(): number {
    return this.parts.leaseMs * POLLING.cancelTimeoutShare;
  }

  /** For how long a question that is slow to be answered is this process's: longer than the question may take. */
  private get slowLeaseMs(): number {
    const { leaseMs } = this.parts;
    return Math.max(leaseMs, this.timeoutMs + this.cancelTimeoutMs + leaseMs * POLLING.reserveShare);
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
    const claimed = await this.parts.schedule.claim(this.upstreamId, wanted - held.length, this.holdMs);
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
        .again(look.poll, this.slowLeaseMs)
        .catch((error: unknown) => log.warn('upstream.lease_failed', { taskId: look.poll.taskId, error }));
      const allowedMs = this.timeoutMs + (look.poll.cancelRequested ? this.cancelTimeoutMs : 0);
      const graceMs = allowedMs - POLLING.slowMs + ABANDON_GRACE_MS;
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
    const { upstream, limits } = this.routed;
    const { checksPerSecond } = limits;
    if (fitting <= 0 || (await this.parts.limits.pausedMs(upstream.vendorAccount, 'check')) > 0) return 0;
    if (checksPerSecond === undefined) return fitting;
    const wanted = Math.min(fitting, Math.ceil(checksPerSecond));
    return (await this.parts.limits.take(upstream.vendorAccount, 'check', wanted, checksPerSecond)).calls;
  }

  /** Never throws: what goes wrong is asked again. */
  private async ask(look: Look): Promise<void> {
    const { poll } = look;
    try {
      if (poll.cancelRequested && (await this.cancel(poll))) return;
      const { state, cost } = await this.check(look);
      if (look.abandoned) return;
      this.parts.failpoints.reach('after-vendor-check');
      await this.apply(look, state, cost);
    } catch (error) {
      await this.askFailed(look, error).catch((failure: unknown) =>
        log.error('upstream.check_lost', { taskId: poll.taskId, error: failure }),
      );
    }
  }

  private async check(look: Look): Promise<{ state: OperationState; cost: VendorCost | undefined }> {
    const { operation, cancelRequested, taskId } = look.poll;
    const { upstream } = this.routed;
    try {
      // A wish to cancel was put to the vendor first, and took of the time of the others.
      const signal = cancelRequested ? this.patience() : look.signal;
      const { call, facts } = notedCall(signal, bareTicket(upstream, taskId), this.carries(taskId, signal));
      const state = storableState(await upstream.check(operation, call));
      return { state, cost: facts.cost };
    } finally {
      look.answered = true;
    }
  }

  /** Some vendors answer a check with the finished files themselves. */
  private carries(id: string, signal: AbortSignal): { spool?: ResultSpool } {
    const { store, storeLimits, upstreams } = this.parts;
    const medium = upstreams.byId(this.upstreamId)?.upstream.traits.checksBring;
    return medium ? { spool: resultSpool({ id, medium }, { store, maxBytes: storeLimits.maxBytes, signal }) } : {};
  }

  private patience(): AbortSignal {
    return abortAfter(this.timeoutMs);
  }

  /** True when the vendor stopped and the task has ended. The wish stands while the vendor gives no answer to it. */
  private async cancel(poll: DuePoll): Promise<boolean> {
    const { moves, settlement } = this.parts;
    const outcome = await askToStop(this.routed.upstream, poll, this.cancelTimeoutMs);
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

  private async apply(look: Look, state: OperationState, cost: VendorCost | undefined): Promise<void> {
    const { schedule, failpoints } = this.parts;
    switch (state.state) {
      case 'failed':
        return this.failed(look.poll, state.code, state.publicReason);
      case 'succeeded':
        await schedule.finish(look.poll.taskId, state.outputs, cost);
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
    await this.nextIn(look, cancelRequested ? this.delayMs(look) : (hint ?? this.delayMs(look)));
  }

  private async askFailed(look: Look, error: unknown): Promise<void> {
    if (look.abandoned) return;
    const { taskId, provider } = look.poll;
    log.warn('upstream.check_failed', { taskId, provider, error });
    if (error instanceof MediaFailure && error.kind === 'refused')
      return this.failed(look.poll, error.code, storableText(error.publicReason));
    const retryAfterMs = error instanceof MediaFailure ? waitMsOf(error.retryAfterMs) : undefined;
    if (retryAfterMs === undefined) return this.nextIn(look, this.delayMs(look));
    const { vendorAccount } = this.routed.upstream;
    await this.parts.limits.pause(vendorAccount, 'check', retryAfterMs || POLLING.pauseMs);
    await this.nextIn(look, retryAfterMs + this.delayMs(look));
  }

  private delayMs(look: Look): number {
    return ownDelayMs(look, this.routed.upstream.traits.checkEveryMs);
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
