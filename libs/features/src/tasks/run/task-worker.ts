import { Inject, Injectable } from '@nestjs/common';
import type { Medium } from '#contracts';
import { logger, PeriodicTask, withLogContext } from '#platform';
import { FAILPOINTS, type Failpoints, type Listening, TASK_NOTIFIER, type TaskNotifier } from '#runtime';
import type { ClaimedTask } from '../task-row.js';
import { TaskTransitions } from '../task-transitions.js';
import { AdvanceTaskService } from './advance-task.service.js';
import { AdmissionController } from '../start/admission-controller.js';
import { ABANDON_GRACE_MS, endedWithin, StepAbandoned, withinLimit } from '../step-limit.js';
import { PutBack, type StepSlot, WorkSlots } from '../work-slots.js';
import { CONCURRENCY, MEDIUM } from '../injection-tokens.js';

/** Renews the lease of a task while a worker works on it. `lost` aborts when another worker has the task. */
class LeaseRenewer {
  private readonly leaseLost = new AbortController();
  private readonly renewal: NodeJS.Timeout;

  constructor(transitions: TaskTransitions, task: ClaimedTask) {
    this.renewal = setInterval(() => {
      transitions.renewLease(task).then(
        (ours) => ours || this.leaseLost.abort(),
        (error: unknown) => log.warn('lease.renewal_failed', { error }),
      );
    }, transitions.renewalMs);
  }

  get lost(): AbortSignal {
    return this.leaseLost.signal;
  }

  /** No renewal follows, so that the lease ends by itself. */
  stop(): void {
    clearInterval(this.renewal);
  }
}

class RunningStep {
  /** Aborted when the process ends before the step does. */
  readonly ending = new AbortController();
  /** All that is left of it is to wait for a vendor: it may do so for as long as calls may when the process ends. */
  isCalling = false;
  /** The whole of it; set when it has begun. */
  work: Promise<void> = Promise.resolve();
  /** Gives its place, in a slot or among the calls, to other work. */
  leavePlace: () => void = () => undefined;

  constructor(readonly task: ClaimedTask) {}
}

const log = logger('generation');

/** How often a worker looks for due tasks that no wake-up announced, in milliseconds. */
const SWEEP_MS = 500;
/** How often it looks for a task that must be run alone, in milliseconds. */
const SUSPECTS_MS = 1_000;
/** How long such a task is left to workers that have nothing else to do, in milliseconds. */
const LEFT_TO_IDLE_MS = 3_000;
/** How long it is left to other processes while this one waits for calls that would die with it, in milliseconds. */
const LEFT_TO_OTHERS_MS = 60_000;
/** The most calls that a process waits for outside its slots; further ones keep theirs. */
const MAX_CALLS = 1_000;
/** The most steps that look at files elsewhere, in all and of one account; a claim takes no more of its tasks then. */
const MAX_FILE_CHECKS = { all: 512, ofAccount: 16 } as const;
/** Which part of the time for stopping the steps under way may use. The rest is for giving up those that do not stop. */
const STOPPING_SHARE = 0.8;

/**
 * Works on the tasks of one medium. A wake-up only says that there may be work: what is claimed is what is due and fairest,
 * not the task that it names. A sweep twice a second finds tasks whose wake-up was lost.
 *
 * A task whose attempts ended without a result may be what kills processes. It is run while this process works on no other
 * task, so that it takes none along.
 */
@Injectable()
export class TaskWorker {
  private readonly sweep = new PeriodicTask('task-sweep', SWEEP_MS, () => this.claim());
  private readonly suspects = new PeriodicTask('task-suspects', SUSPECTS_MS, () => this.takeSuspect());
  private readonly slots: WorkSlots;
  /** Steps that released their slot, and only wait for a vendor. */
  private readonly calls = new WorkSlots(MAX_CALLS);
  /** Steps that look at files elsewhere and will need a slot again, and how many of each account. */
  private readonly fileChecks = new WorkSlots(MAX_FILE_CHECKS.all);
  private readonly fileChecksOf = new Map<string, number>();
  /** Puts tasks whose files are looked at back to the queue. */
  private puttingBack = new AbortController();
  private readonly running = new Set<RunningStep>();
  private listening: Listening | undefined;
  private claiming: Promise<boolean> | undefined;
  private stopping = false;
  /** A task waits to be run alone, or is. */
  private isolating = false;
  /** The last claim took as much as it could, so that more is likely to wait. */
  private backlog = false;

  constructor(
    @Inject(MEDIUM) private readonly medium: Medium,
    @Inject(CONCURRENCY) private readonly concurrency: number,
    private readonly transitions: TaskTransitions,
    private readonly advance: AdvanceTaskService,
    @Inject(TASK_NOTIFIER) private readonly notifier: TaskNotifier,
    @Inject(FAILPOINTS) private readonly failpoints: Failpoints,
    private readonly admissions: AdmissionController,
  ) {
    this.slots = new WorkSlots(concurrency);
  }

  /** Steps under way in slots. */
  get inHand(): number {
    return this.concurrency - this.slots.free;
  }

  /** Calls that are waited for outside the slots. */
  get callsUnderWay(): number {
    return MAX_CALLS - this.calls.free;
  }

  start(): void {
    const room = (): number => (this.isolating ? 0 : this.slots.free);
    this.listening = this.notifier.listen(this.medium, { concurrency: this.concurrency, room }, () => this.answer());
    this.sweep.start();
    this.suspects.start();
  }

  /**
   * Takes nothing new and gives what is under way most of `graceMs` to reach its end, and calls of vendors most of
   * `callGraceMs`: what they make may be paid for and lost with them. What is left is aborted at its next safe point, or
   * abandoned, and given back, so that another worker continues at once.
   */
  async stop(graceMs: number, callGraceMs = graceMs): Promise<void> {
    this.stopping = true;
    this.admissions.stop();
    this.putBackFileChecks();
    const abort = (isCalling: boolean) => () => {
      for (const step of this.running) if (step.isCalling === isCalling) step.ending.abort();
    };
    const timers = [
      setTimeout(abort(false), graceMs * STOPPING_SHARE),
      setTimeout(abort(true), Math.max(graceMs, callGraceMs) * STOPPING_SHARE),
    ];
    await Promise.all([this.listening?.stop(graceMs), this.sweep.stop(), this.suspects.stop(), this.lastClaim()]);
    await this.fileChecks.empty();
    await this.slots.empty();
    await this.calls.empty();
    for (const timer of timers) clearTimeout(timer);
    const givenBack = this.transitions.giveBack(this.medium);
    givenBack.catch((error: unknown) => log.warn('lease.give_back_failed', { error }));
    // A task that could not be given back is free for any worker when its lease is over.
    await endedWithin(givenBack, ABANDON_GRACE_MS);
  }

  /** What a claim under way still takes must have its slot before the slots are waited for. */
  private async lastClaim(): Promise<void> {
    while (this.claiming) await this.claiming.catch(() => undefined);
  }

  /** A worker without a free slot keeps the wake-up until it has one, so that an idle worker answers the others. */
  private async answer(): Promise<void> {
    await this.slots.available();
    await this.claim();
  }

  /** One claim at a time; wake-ups that come during it share the next. */
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
      if (free === 0 || this.stopping || this.isolating) return false;
      const limits = await this.admissions.claimLimits(this.medium);
      const tasks = await this.transitions.claimDue(this.medium, free, limits, this.fileCheckRooms());
      if (tasks.length > 0) this.failpoints.reach('after-claim');
      this.backlog = tasks.length === free;
      for (const task of tasks) this.begin(task);
      // Each account got its even share; what small ones left free is for those with more.
      const accounts = new Set(tasks.map(({ account_id: accountId }) => accountId));
      if (this.backlog || accounts.size < 2) return false;
    }
  }

  /** Gives the next step of a task a slot, which it may release, or leave for a while. */
  private begin(task: ClaimedTask): void {
    const step = new RunningStep(task);
    step.work = this.work(step, {
      releaseSlot: () => this.releaseSlot(step),
      outsideSlot: (part) => this.outsideSlot(step, part),
    });
    step.leavePlace = this.slots.fill(step.work);
  }

  private releaseSlot(step: RunningStep): void {
    if (step.isCalling) return;
    step.isCalling = true;
    if (this.calls.free === 0) return;
    const leaveCalls = this.calls.fill(step.work);
    step.leavePlace();
    step.leavePlace = leaveCalls;
    if (this.backlog) this.claimSoon();
  }

  private async outsideSlot<Result>(
    step: RunningStep,
    part: (putBack: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const { account_id: accountId } = step.task;
    const isFull = this.fileChecks.free === 0 || this.fileCheckRoom(accountId) === 0;
    if (isFull || this.stopping || this.isolating) throw new PutBack();
    const comeBack = this.fileChecks.fill(step.work);
    this.countFileCheck(accountId, 1);
    step.leavePlace();
    step.isCalling = false;
    if (this.backlog) this.claimSoon();
    try {
      return await part(this.puttingBack.signal);
    } finally {
      // What the account was passed over for need not wait for the next sweep.
      if (this.fileCheckRoom(accountId) === 0) this.claimSoon();
      this.countFileCheck(accountId, -1);
      step.leavePlace = await this.slots.refill(step.work);
      comeBack();
    }
  }

  private fileCheckRoom(accountId: string): number {
    return Math.max(0, MAX_FILE_CHECKS.ofAccount - (this.fileChecksOf.get(accountId) ?? 0));
  }

  private fileCheckRooms(): Record<string, number> {
    const accounts = [...this.fileChecksOf.keys()];
    return Object.fromEntries(accounts.map((accountId) => [accountId, this.fileCheckRoom(accountId)]));
  }

  private countFileCheck(accountId: string, change: 1 | -1): void {
    const steps = (this.fileChecksOf.get(accountId) ?? 0) + change;
    if (steps > 0) this.fileChecksOf.set(accountId, steps);
    else this.fileChecksOf.delete(accountId);
  }

  /** Tasks whose files are being looked at go back to the queue. */
  private putBackFileChecks(): void {
    this.puttingBack.abort(new PutBack());
    this.puttingBack = new AbortController();
  }

  private async work(step: RunningStep, slot: StepSlot): Promise<void> {
    const { task } = step;
    await this.inContext(task, () => this.advanceWithLease(step, new LeaseRenewer(this.transitions, task), slot));
    // The slot is free again: what waits for one need not wait for the next sweep.
    if (this.backlog) this.claimSoon();
  }

  private claimSoon(): void {
    setImmediate(() => void this.claim().catch((error: unknown) => log.error('task.claim_failed', { error })));
  }

  /** Runs one task alone, if there is one. A worker that has other work leaves it to idle ones first. */
  private async takeSuspect(): Promise<boolean> {
    if (this.stopping) return false;
    const dueMs = this.callsUnderWay > 0 ? LEFT_TO_OTHERS_MS : this.inHand === 0 ? 0 : LEFT_TO_IDLE_MS;
    const task = await this.transitions.claimSuspect(this.medium, dueMs);
    if (!task) return false;
    this.isolating = true;
    try {
      await this.inContext(task, () => this.runAlone(task));
    } finally {
      this.isolating = false;
      this.claimSoon();
    }
    return !this.stopping;
  }

  private async runAlone(task: ClaimedTask): Promise<void> {
    if (await this.advance.endsWithoutWork(task)) return;
    const lease = new LeaseRenewer(this.transitions, task);
    try {
      await this.lastClaim();
      this.putBackFileChecks();
      await this.fileChecks.empty();
      await this.slots.empty();
      // They would have this process do nothing else for as long as their upstreams are closed.
      this.admissions.releaseHeld();
      await this.calls.empty();
      if (this.stopping || lease.lost.aborted || !(await this.transitions.beginStep(task))) return;
      log.warn('task.quarantined', { taskId: task.id, crashes: task.crash_count });
      this.slots.fill(this.advanceWithLease(new RunningStep(task), lease));
      await this.slots.empty();
    } finally {
      lease.stop();
    }
  }

  private inContext(task: ClaimedTask, work: () => Promise<void>): Promise<void> {
    return withLogContext({ taskId: task.id, requestId: task.request_id }, work);
  }

  /**
   * Keeps the lease while the step runs; a step whose lease was lost is aborted, because another worker has the task. So is
   * one whose time is over, and the slot is free soon after, even when it does not stop.
   */
  private async advanceWithLease(step: RunningStep, lease: LeaseRenewer, slot?: StepSlot): Promise<void> {
    const { task, ending } = step;
    this.running.add(step);
    const limit = {
      step: 'task',
      limitMs: this.advance.limitMs(task),
      signal: AbortSignal.any([ending.signal, lease.lost]),
    } as const;
    try {
      await withinLimit(limit, async (signal) => {
        await this.advance.advance(task, signal, slot);
        if (signal.aborted && !limit.signal.aborted) await this.overran(task);
      });
    } catch (error) {
      log.error('task.advance_failed', { error });
      if (error instanceof StepAbandoned && !limit.signal.aborted) await this.overran(task);
    } finally {
      this.running.delete(step);
      lease.stop();
    }
  }

  /** Never throws: a task that cannot be put back is free for any worker when its lease is over. */
  private async overran(task: ClaimedTask): Promise<void> {
    const putBack = this.advance.overran(task);
    putBack.catch((error: unknown) => log.error('task.put_back_failed', { error }));
    await endedWithin(putBack, ABANDON_GRACE_MS);
  }
}
