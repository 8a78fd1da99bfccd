import { setMaxListeners } from 'node:events';
import { Inject, Injectable } from '@nestjs/common';
import { MediaFailure, type OperationState, type ResultSpool, type TaskFailureCode, type VendorCost } from '#contracts';
import type { MediaStore } from '#media';
import { abortAfter, backoffMs, logger, nextTurn, PeriodicTask, signals } from '#platform';
import { FAILPOINTS, type Failpoints, MEDIA_STORE } from '#runtime';
import { MediaUpstreams, type RoutedUpstream } from '../../upstreams/media-upstreams.js';
import { MediaCircuits } from '../../upstreams/upstream-circuits.js';
import { LEASE_MS, STORE_LIMITS } from '../injection-tokens.js';
import { SettleTaskService } from '../settle/settle-task.service.js';
import { ABANDON_GRACE_MS, endedWithin } from '../step-limit.js';
import { possiblySpooled, resultSpool, type StoreLimits } from '../store/result-files.js';
import { TaskTransitions } from '../task-transitions.js';
import { UpstreamLimits } from '../upstream-limits.js';
import { askToStop, bareTicket, notedCall, storableState, storableText, waitMsOf } from '../vendor-call.js';
import { WorkSlots } from '../work-slots.js';
import { type DuePoll, PollSchedule } from './poll-schedule.js';

/** An operation that this process polls again without asking the schedule. Times in milliseconds of its own clock. */
export interface HeldPoll {
  readonly poll: DuePoll;
  /** How often it was polled since it was claimed. */
  readonly polls: number;
  /** From then on the schedule says when, and any process may poll. */
  readonly heldUntilMs: number;
}

/** Polls that are due within so many milliseconds of each other are due together. */
const TOGETHER_MS = 25;

/**
 * The operations that one claim lets this process poll several times: a poll from here costs the database nothing. A
 * wheel of times, so that neither keeping nor taking depends on how many are held.
 */
export class LeasedPolls {
  private readonly due = new Map<number, HeldPoll[]>();
  private earliest = Number.POSITIVE_INFINITY;

  /** True when it is kept for its next poll; false when others may poll by then. */
  keep(held: HeldPoll, dueMs: number): boolean {
    if (dueMs >= held.heldUntilMs) return false;
    const time = Math.ceil(dueMs / TOGETHER_MS);
    const together = this.due.get(time);
    if (together) together.push(held);
    else this.due.set(time, [held]);
    this.earliest = Math.min(this.earliest, time);
    return true;
  }

  /** Up to `limit` operations that are due, the earliest first. Those that waited for too long are left to the schedule. */
  takeDue(nowMs: number, limit: number): HeldPoll[] {
    const taken: HeldPoll[] = [];
    const now = Math.floor(nowMs / TOGETHER_MS);
    while (this.due.size > 0 && this.earliest <= now && taken.length < limit) {
      const together = this.due.get(this.earliest) ?? [];
      const ours = together.splice(0, limit - taken.length).filter(({ heldUntilMs }) => nowMs < heldUntilMs);
      taken.push(...ours);
      if (together.length > 0) continue;
      this.due.delete(this.earliest);
      this.earliest += 1;
    }
    if (this.due.size === 0) this.earliest = Number.POSITIVE_INFINITY;
    return taken;
  }

  /** Lets go of everything, and says what of it is still ours. */
  release(nowMs: number): DuePoll[] {
    const held = [...this.due.values()].flat().filter(({ heldUntilMs }) => nowMs < heldUntilMs);
    this.due.clear();
    this.earliest = Number.POSITIVE_INFINITY;
    return held.map(({ poll }) => poll);
  }
}

/** Bounds of asking one vendor. Times in milliseconds. */
export const POLLING = {
  /** The most operations claimed at once. */
  batch: 500,
  /** The most polls under way at once in one process. */
  inFlight: 1_000,
  /** The most polls begun without letting other work of the process continue. */
  inOneGo: 32,
  /** The pause when little was due. */
  idleMs: 100,
  /** After so long without an answer a poll gets the lease, so that no other process polls meanwhile. */
  slowMs: 500,
  /** The longest one poll may take, as a part of the lease, where the upstream needs no longer. */
  timeoutShare: 0.5,
  /** The same for asking a vendor to stop. A poll comes behind it, and both fit into the lease. */
  cancelTimeoutShare: 0.3,
  /** What a poll leaves of its lease for what follows from the answer. */
  reserveShare: 0.2,
  /** How long a vendor is left alone that refused for its rate and named no time: doubling with each time in a row. */
  busyMs: { first: 2_000, longest: 60_000 },
  /** Time from one poll of an operation to the next. With it, finished work is visible within 2 s at the 95th percentile. */
  steadyDelayMs: 1_200,
  /** The same after the first poll; it grows by a third with each, until it is steady. */
  firstDelayMs: 300,
  /** How long a claim holds an operation: the polls of that time cost one write. At most `holdShare` of the lease. */
  holdMs: 7_200,
  holdShare: 0.5,
} as const;

/**
 * How long until the next poll when the vendor gave no hint: quickly while the first claim holds, then at a steady pace, and
 * never sooner than the upstream is to be asked.
 */
export function ownDelayMs({ poll, polls }: HeldPoll, leastMs: number): number {
  const early = poll.claims === 1 ? POLLING.firstDelayMs * 1.3 ** polls : Number.POSITIVE_INFINITY;
  const quick = Math.min(early, POLLING.steadyDelayMs);
  return Math.round(Math.max(leastMs, quick) * (0.9 + Math.random() / 5));
}

/** How long a vendor is left alone that names no time. @param inARow how often it was so before, with no answer in between. */
export function busyPauseMs(inARow: number): number {
  const { first: firstMs, longest: longestMs } = POLLING.busyMs;
  return backoffMs({ firstMs, longestMs, spread: 0.25 }, inARow);
}

/** How long a vendor is left alone that refuses polls for their rate. Pauses are shared by all processes. */
class PollPauses {
  /** How often the vendor refused a poll for its rate since it answered one. */
  private busyInARow = 0;

  constructor(private readonly limits: UpstreamLimits) {}

  /** The vendor has answered a poll. */
  end(): void {
    this.busyInARow = 0;
  }

  /**
   * Pauses as the failure asks for. Most vendors name no time: then the pause is our own, longer from time to time.
   *
   * @returns the milliseconds of the pause, 0 for none.
   */
  async after(vendorAccount: string, { kind, retryAfterMs }: MediaFailure): Promise<number> {
    const asked = waitMsOf(retryAfterMs);
    if (asked === undefined && kind !== 'busy') return 0;
    // What was under way when the pause began is refused for the same reason.
    const knownMs = this.limits.knownPauseMs(vendorAccount, 'check');
    if (!asked && knownMs > 0) return knownMs;
    const pauseMs = asked || busyPauseMs(this.busyInARow);
    if (knownMs === 0) this.busyInARow += 1;
    await this.limits.pause(vendorAccount, 'check', pauseMs);
    return pauseMs;
  }
}

interface PendingPoll extends HeldPoll {
  readonly signal: AbortSignal;
  answered: boolean;
  /** Set once the poll got the lease: its claim no longer says when the next poll comes. */
  leased: Promise<void> | null;
  /** Gives up the place of a poll that does not end. */
  leave: () => void;
  /** It did not end in its time: what it still says decides nothing. */
  abandoned: boolean;
  /** Abandons it. Cleared with its end: it would keep the whole poller in memory for a minute more. */
  limit?: NodeJS.Timeout;
}

const nothing = (): void => undefined;

/** The next poll of an operation, not yet begun. `signal` ends it. */
const pendingPoll = ({ poll, polls, heldUntilMs }: HeldPoll, signal: AbortSignal): PendingPoll => ({
  poll,
  polls: polls + 1,
  heldUntilMs,
  signal,
  answered: false,
  leased: null,
  leave: nothing,
  abandoned: false,
});

const log = logger('generation');

/** Progress that a vendor can report; the rest is for copying the files. */
const VENDOR_PROGRESS_MAX = 94;

export interface PollerDeps {
  readonly schedule: PollSchedule;
  readonly transitions: TaskTransitions;
  readonly settlement: SettleTaskService;
  readonly limits: UpstreamLimits;
  readonly circuits: MediaCircuits;
  readonly upstreams: MediaUpstreams;
  readonly store: MediaStore;
  readonly storeLimits: StoreLimits;
  readonly failpoints: Failpoints;
  /** If this process dies, another continues after that time, in milliseconds. */
  readonly leaseMs: number;
}

/** Asks one vendor how its operations go. A poll that hangs holds up neither the other polls nor other vendors. */
export class UpstreamPoller {
  private readonly loop: PeriodicTask;
  private readonly slots = new WorkSlots(POLLING.inFlight);
  private readonly leasedPolls = new LeasedPolls();
  private readonly underWay = new Set<PendingPoll>();
  private readonly stopped = new AbortController();
  private readonly holdMs: number;
  private readonly pauses: PollPauses;

  /** @param upstreamId whatever stands behind that name is asked, also when its settings change. */
  constructor(
    readonly upstreamId: string,
    private readonly deps: PollerDeps,
  ) {
    this.pauses = new PollPauses(deps.limits);
    this.holdMs = Math.min(POLLING.holdMs, deps.leaseMs * POLLING.holdShare);
    this.loop = new PeriodicTask(`poll-${upstreamId}`, POLLING.idleMs, () => this.askDue());
  }

  private get routed(): RoutedUpstream {
    const routed = this.deps.upstreams.byId(this.upstreamId);
    if (routed) return routed;
    throw new Error(`the upstream ${this.upstreamId} is not configured any more`);
  }

  /** The longest that one poll, and asking the vendor to stop, may take. */
  private get timeoutMs(): number {
    return Math.max(this.deps.leaseMs * POLLING.timeoutShare, this.routed.upstream.traits.checkTimeoutMs);
  }

  private get cancelTimeoutMs(): number {
    return this.deps.leaseMs * POLLING.cancelTimeoutShare;
  }

  /** For how long a poll that is slow to be answered is this process's: longer than the poll may take. */
  private get slowLeaseMs(): number {
    const { leaseMs } = this.deps;
    return Math.max(leaseMs, this.timeoutMs + this.cancelTimeoutMs + leaseMs * POLLING.reserveShare);
  }

  start(): void {
    this.loop.start();
  }

  /** Resolves when the polls under way are answered, or ended after `graceMs`, and all leases are free again. */
  async stop(graceMs: number): Promise<void> {
    await endedWithin(
      this.loop.stop().then(() => this.slots.empty()),
      graceMs,
    );
    const unanswered = [...this.underWay].filter(({ answered }) => !answered);
    for (const pending of unanswered) pending.abandoned = true;
    this.stopped.abort();
    const held = this.leasedPolls.release(performance.now());
    // What cannot be given back now is free when the lease ends.
    await Promise.allSettled([
      ...held.map((poll) => this.giveBack(poll, null)),
      ...unanswered.map(({ poll, leased }) => this.giveBack(poll, leased)),
    ]);
  }

  /** @param leased the lease that is perhaps still being written, which must not come later. */
  private async giveBack(poll: DuePoll, leased: Promise<void> | null): Promise<void> {
    await leased;
    await this.deps.schedule.again(poll, POLLING.steadyDelayMs);
  }

  /** True when more may be due at once. */
  private async askDue(): Promise<boolean> {
    await this.slots.available();
    const wanted = await this.allowed(Math.min(POLLING.batch, this.slots.free));
    if (wanted === 0) return false;
    const due = await this.takeDue(wanted);
    if (due.length === 0) return false;
    // One clock for all of them: what is taken together is asked together.
    const signal = this.checkSignal();
    const begun: PendingPoll[] = [];
    for (const held of due) {
      // Finished work is processed in between: thousands of polls that all fit would keep it waiting for seconds.
      if (begun.length % POLLING.inOneGo === POLLING.inOneGo - 1) await nextTurn();
      begun.push(this.begin(held, signal));
    }
    setTimeout(() => this.leaseSlow(begun), POLLING.slowMs).unref();
    return due.length === wanted;
  }

  private begin(held: HeldPoll, signal: AbortSignal): PendingPoll {
    const pending = pendingPoll(held, signal);
    this.underWay.add(pending);
    pending.leave = this.slots.fill(
      this.ask(pending).finally(() => {
        this.underWay.delete(pending);
        clearTimeout(pending.limit);
      }),
    );
    return pending;
  }

  /** Half of what is wanted comes from either side while both have enough, so that neither waits for the other to be done. */
  private async takeDue(wanted: number): Promise<HeldPoll[]> {
    const held = this.leasedPolls.takeDue(performance.now(), Math.floor(wanted / 2));
    // Counted from before the claim: the hold ends here before it ends in the schedule.
    const heldUntilMs = performance.now() + this.holdMs;
    const claimed = await this.deps.schedule.claim(this.upstreamId, wanted - held.length, this.holdMs);
    if (claimed.length > 0) this.deps.failpoints.reach('after-poll-claim');
    const left = wanted - held.length - claimed.length;
    return [
      ...held,
      ...claimed.map((poll) => ({ poll, polls: 0, heldUntilMs })),
      ...this.leasedPolls.takeDue(performance.now(), left),
    ];
  }

  private leaseSlow(begun: readonly PendingPoll[]): void {
    for (const pending of begun) {
      if (pending.answered || pending.abandoned || !this.underWay.has(pending)) continue;
      pending.leased = this.deps.schedule
        .again(pending.poll, this.slowLeaseMs)
        .catch((error: unknown) => log.warn('upstream.lease_failed', { taskId: pending.poll.taskId, error }));
      const allowedMs = this.timeoutMs + (pending.poll.cancelRequested ? this.cancelTimeoutMs : 0);
      const graceMs = allowedMs - POLLING.slowMs + ABANDON_GRACE_MS;
      pending.limit = setTimeout(() => this.abandon(pending), Math.max(graceMs, 0)).unref();
    }
  }

  /** A poll that continues although its signal aborted gives up its place. Its lease lets another ask. */
  private abandon(pending: PendingPoll): void {
    if (pending.answered || pending.abandoned) return;
    pending.abandoned = true;
    pending.leave();
    signals.stepsAbandoned.inc({ step: 'check' });
    log.error('upstream.check_abandoned', { taskId: pending.poll.taskId, upstream: pending.poll.upstreamId });
  }

  /** How many polls the vendor's limits leave of those that fit. */
  private async allowed(fitting: number): Promise<number> {
    const { upstream, limits } = this.routed;
    const { checksPerSecond } = limits;
    if (fitting <= 0 || (await this.deps.limits.pausedMs(upstream.vendorAccount, 'check')) > 0) return 0;
    if (checksPerSecond === undefined) return fitting;
    const wanted = Math.min(fitting, Math.ceil(checksPerSecond));
    return (await this.deps.limits.take(upstream.vendorAccount, 'check', wanted, checksPerSecond)).calls;
  }

  /** Never throws: what goes wrong is asked again. */
  private async ask(pending: PendingPoll): Promise<void> {
    const { poll } = pending;
    try {
      if (poll.cancelRequested && (await this.cancel(poll))) return;
      const { state, cost } = await this.check(pending);
      if (pending.abandoned) return;
      this.deps.failpoints.reach('after-vendor-check');
      await this.apply(pending, state, cost);
    } catch (error) {
      await this.askFailed(pending, error).catch((failure: unknown) =>
        log.error('upstream.check_lost', { taskId: poll.taskId, error: failure }),
      );
    }
  }

  private async check(pending: PendingPoll): Promise<{ state: OperationState; cost: VendorCost | undefined }> {
    const { operation, cancelRequested, taskId } = pending.poll;
    const { upstream } = this.routed;
    try {
      // The vendor was asked to cancel first, which took some of the time that the polls share.
      const signal = cancelRequested ? this.checkSignal() : pending.signal;
      const { call, facts } = notedCall(signal, bareTicket(upstream, taskId), this.carries(taskId, signal));
      const state = storableState(await upstream.check(operation, call));
      this.pauses.end();
      return { state, cost: facts.cost };
    } finally {
      pending.answered = true;
    }
  }

  /** Some vendors answer a check with the finished files themselves. */
  private carries(id: string, signal: AbortSignal): { spool?: ResultSpool } {
    const { store, storeLimits, upstreams } = this.deps;
    const medium = upstreams.byId(this.upstreamId)?.upstream.traits.checksBring;
    return medium ? { spool: resultSpool({ id, medium }, { store, maxBytes: storeLimits.maxBytes, signal }) } : {};
  }

  /** Each of the polls that share it listens to it, which Node would take for a leak. */
  private checkSignal(): AbortSignal {
    const signal = abortAfter(this.timeoutMs, this.stopped.signal);
    setMaxListeners(0, signal);
    return signal;
  }

  /** True when the vendor stopped and the task has ended. The request to cancel stands while the vendor does not answer it. */
  private async cancel(poll: DuePoll): Promise<boolean> {
    const { transitions, settlement } = this.deps;
    const outcome = await askToStop(this.routed.upstream, poll, this.cancelTimeoutMs);
    if (outcome === 'unanswered') return false;
    if (outcome === 'cancelled') {
      await this.ended(poll, settlement.cancel(poll.taskId, ['running']));
      return true;
    }
    await transitions.refuseCancel(poll.taskId, outcome);
    return false;
  }

  private async failed(poll: DuePoll, code: TaskFailureCode, reason: string): Promise<void> {
    const task = { id: poll.taskId, outputs: possiblySpooled(this.routed.upstream, poll.operation) };
    await this.ended(poll, this.deps.settlement.failUnclaimed(task, ['running'], code, reason));
    // What its owner wanted stopped ends as failed at some vendors.
    if (code !== 'upstream_error' || poll.cancelRequested) return;
    const order = await this.deps.schedule.orderOf(poll.taskId);
    if (order) this.deps.circuits.recordFailedWork(this.routed, order);
  }

  /** A task that something else has ended may have been ended before the schedule had its row. */
  private async ended({ taskId }: DuePoll, settled: Promise<boolean>): Promise<void> {
    if (!(await settled)) await this.deps.schedule.drop(taskId);
  }

  private async apply(pending: PendingPoll, state: OperationState, cost: VendorCost | undefined): Promise<void> {
    const { schedule, failpoints } = this.deps;
    switch (state.state) {
      case 'failed':
        return this.failed(pending.poll, state.code, state.publicReason);
      case 'succeeded':
        await schedule.finish(pending.poll.taskId, state.outputs, cost);
        return failpoints.reach('after-storing');
      default:
        return this.stillRunning(pending, state);
    }
  }

  /** Whatever an adapter does not know how to name counts as work that continues: the deadline ends it if nothing else does. */
  private async stillRunning(
    pending: PendingPoll,
    state: Extract<OperationState, { state: 'pending' }>,
  ): Promise<void> {
    const { taskId, upstreamId: upstream, cancelRequested } = pending.poll;
    const { progressPercent, pollDelayMs: hint } = state;
    if (state.state !== 'pending') log.warn('upstream.state_unknown', { taskId, upstream });
    if (progressPercent !== undefined && progressPercent > 0)
      await this.deps.schedule.reportProgress(taskId, Math.min(VENDOR_PROGRESS_MAX, progressPercent));
    // A request to cancel that the vendor left unanswered is not put off for as long as the work itself may take.
    await this.nextIn(pending, cancelRequested ? this.delayMs(pending) : (hint ?? this.delayMs(pending)));
  }

  private async askFailed(pending: PendingPoll, error: unknown): Promise<void> {
    if (pending.abandoned) return;
    const { taskId, upstreamId: upstream } = pending.poll;
    log.warn('upstream.check_failed', { taskId, upstream, error });
    if (error instanceof MediaFailure && error.kind === 'refused')
      return this.failed(pending.poll, error.code, storableText(error.publicReason));
    const { vendorAccount } = this.routed.upstream;
    const pauseMs = error instanceof MediaFailure ? await this.pauses.after(vendorAccount, error) : 0;
    await this.nextIn(pending, pauseMs + this.delayMs(pending));
  }

  private delayMs(pending: PendingPoll): number {
    return ownDelayMs(pending, this.routed.upstream.traits.checkEveryMs);
  }

  /**
   * From memory while the operation is held. When the hold ends first the schedule says when, unless the poll is to come
   * later than that, or the poll got the lease. A request to cancel goes back to the schedule, which knows whether it stands.
   */
  private async nextIn({ poll, polls, heldUntilMs, leased }: PendingPoll, delayMs: number): Promise<void> {
    if (leased === null && !poll.cancelRequested) {
      if (this.leasedPolls.keep({ poll, polls, heldUntilMs }, performance.now() + delayMs)) return;
      if (delayMs <= POLLING.steadyDelayMs) return;
    }
    await leased;
    await this.deps.schedule.again(poll, delayMs);
  }
}

/** How often the schedule is checked for having been emptied by a crash of the database, in milliseconds. */
const FILL_MS = 1_000;
/** How long polls under way may take to end when an upstream has left the configuration. */
const LEAVING_MS = 10_000;

/**
 * Asks the upstreams how running tasks go, each by a poller of its own. Pollers begin and end with the configuration, and a
 * poller stays while its upstream drains. Waiting costs no worker slot.
 */
@Injectable()
export class UpstreamPollers {
  private readonly pollers = new Map<string, UpstreamPoller>();
  private readonly filling: PeriodicTask;
  private stopFollowing: (() => void) | undefined;

  private readonly deps: PollerDeps;

  constructor(
    schedule: PollSchedule,
    transitions: TaskTransitions,
    settlement: SettleTaskService,
    limits: UpstreamLimits,
    circuits: MediaCircuits,
    upstreams: MediaUpstreams,
    @Inject(MEDIA_STORE) store: MediaStore,
    @Inject(STORE_LIMITS) storeLimits: StoreLimits,
    @Inject(FAILPOINTS) failpoints: Failpoints,
    @Inject(LEASE_MS) leaseMs: number,
  ) {
    this.deps = {
      schedule,
      transitions,
      settlement,
      limits,
      circuits,
      upstreams,
      store,
      storeLimits,
      failpoints,
      leaseMs,
    };
    this.filling = new PeriodicTask('poll-schedule', FILL_MS, async () => {
      await schedule.fill();
      return false;
    });
  }

  start(): void {
    this.filling.start();
    this.follow();
    this.stopFollowing = this.deps.upstreams.onExchange(() => this.follow());
  }

  /** Resolves when the polls under way are answered, or `graceMs` are over. */
  async stop(graceMs: number): Promise<void> {
    this.stopFollowing?.();
    const pollers = [...this.pollers.values()].map((poller) => poller.stop(graceMs));
    await Promise.all([endedWithin(this.filling.stop(), graceMs), ...pollers]);
  }

  private follow(): void {
    const ids = new Set(this.deps.upstreams.all.map(({ upstream }) => upstream.id));
    for (const [id, poller] of this.pollers) {
      if (ids.has(id)) continue;
      this.pollers.delete(id);
      void poller.stop(LEAVING_MS);
    }
    for (const id of ids) {
      if (this.pollers.has(id)) continue;
      const poller = new UpstreamPoller(id, this.deps);
      this.pollers.set(id, poller);
      poller.start();
    }
  }
}
