import { Inject, Injectable } from '@nestjs/common';
import type { Medium } from '#contracts';
import { logger, PeriodicTask, withLogContext } from '#platform';
import { FAILPOINTS, type Failpoints, type Listening, TASK_NOTIFIER, type TaskNotifier } from '#runtime';
import type { ClaimedTask } from '../task-row.js';
import { TaskTransitions } from '../task-transitions.js';
import { AdvanceTaskService } from './advance-task.service.js';
import { StartGate } from '../start/admission-controller.js';
import { ABANDON_GRACE_MS, endedWithin, StepAbandoned, withinLimit } from '../step-limit.js';
import { PutBack, type StepAside, type StepPlace, WorkSlots } from '../work-slots.js';
import { CONCURRENCY, MEDIUM } from './worker-parts.js';

/** The lease of a task while a worker works on it. `lost` aborts when another worker has the task. */
class KeptLease {
  private readonly losing = new AbortController();
  private readonly renewal: NodeJS.Timeout;

  constructor(transitions: TaskTransitions, task: ClaimedTask) {
    this.renewal = setInterval(() => {
      transitions.renewLease(task).then(
        (ours) => ours || this.losing.abort(),
        (error: unknown) => log.warn('lease.renewal_failed', { error }),
      );
    }, transitions.renewalMs);
  }

  get lost(): AbortSignal {
    return this.losing.signal;
  }

  /** No renewal follows, so that the lease ends by itself. */
  letGo(): void {
    clearInterval(this.renewal);
  }
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
/** The most calls that a process waits for beside its slots; further ones keep theirs. */
const MAX_ASIDE = 1_000;
/** The most steps that look at files elsewhere, in all and of one account; a claim takes no more of its tasks then. */
const MAX_BESIDE = { all: 512, ofAccount: 16 } as const;
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
  /** Steps that only wait for a vendor. */
  private readonly aside = new WorkSlots(MAX_ASIDE);
  /** Steps that look at files elsewhere and will need a slot again, and how many of each account. */
  private readonly beside = new WorkSlots(MAX_BESIDE.all);
  private readonly besideOf = new Map<string, number>();
  /** Ends what they do. */
  private letting = new AbortController();
  /** Abort the steps in slots, and those aside. */
  private readonly endings = { slots: new Set<AbortController>(), aside: new Set<AbortController>() };
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
    private readonly gate: StartGate,
  ) {
    this.slots = new WorkSlots(concurrency);
  }

  /** Steps under way in slots. */
  get inHand(): number {
    return this.concurrency - this.slots.free;
  }

  /** Calls that are waited for beside them. */
  get waitingAside(): number {
    return MAX_ASIDE - this.aside.free;
  }

  start(): void {
    this.listening = this.notifier.listen(this.medium, { concurrency: this.concurrency }, () => this.answer());
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
    this.gate.stop();
    this.letGo();
    const abortAll = (steps: Set<AbortController>) => () => {
      for (const step of steps) step.abort();
    };
    const timers = [
      setTimeout(abortAll(this.endings.slots), graceMs * STOPPING_SHARE),
      setTimeout(abortAll(this.endings.aside), Math.max(graceMs, callGraceMs) * STOPPING_SHARE),
    ];
    await Promise.all([this.listening?.stop(graceMs), this.sweep.stop(), this.suspects.stop(), this.lastClaim()]);
    await this.beside.empty();
    await this.slots.empty();
    await this.aside.empty();
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
      const limits = await this.gate.claimLimits(this.medium);
      const tasks = await this.transitions.claimDue(this.medium, free, limits, this.roomsBeside());
      if (tasks.length > 0) this.failpoints.reach('after-claim');
      this.backlog = tasks.length === free;
      for (const task of tasks) this.fill(task, (place) => this.work(task, place));
      // Each account got its even share; what small ones left free is for those with more.
      const accounts = new Set(tasks.map(({ account_id: accountId }) => accountId));
      if (this.backlog || accounts.size < 2) return false;
    }
  }

  /** Gives a piece of work a slot, and takes it away again when the work only waits. */
  private fill({ account_id: accountId }: ClaimedTask, begin: (place: StepPlace) => Promise<void>): void {
    let leave = (): void => undefined;
    const work = begin({
      aside: () => {
        if (this.aside.free === 0) return;
        this.aside.fill(work);
        leave();
        if (this.backlog) this.claimSoon();
      },
      beside: async (part) => {
        const isFull = this.beside.free === 0 || this.roomBeside(accountId) === 0;
        if (isFull || this.stopping || this.isolating) throw new PutBack();
        const comeBack = this.beside.fill(work);
        this.countBeside(accountId, 1);
        leave();
        if (this.backlog) this.claimSoon();
        try {
          return await part(this.letting.signal);
        } finally {
          // What the account was passed over for need not wait for the next sweep.
          if (this.roomBeside(accountId) === 0) this.claimSoon();
          this.countBeside(accountId, -1);
          leave = await this.slots.refill(work);
          comeBack();
        }
      },
    });
    leave = this.slots.fill(work);
  }

  private roomBeside(accountId: string): number {
    return Math.max(0, MAX_BESIDE.ofAccount - (this.besideOf.get(accountId) ?? 0));
  }

  private roomsBeside(): Record<string, number> {
    return Object.fromEntries([...this.besideOf.keys()].map((accountId) => [accountId, this.roomBeside(accountId)]));
  }

  private countBeside(accountId: string, change: 1 | -1): void {
    const steps = (this.besideOf.get(accountId) ?? 0) + change;
    if (steps > 0) this.besideOf.set(accountId, steps);
    else this.besideOf.delete(accountId);
  }

  /** Tasks whose files are being looked at go back to the queue. */
  private letGo(): void {
    this.letting.abort(new PutBack());
    this.letting = new AbortController();
  }

  private async work(task: ClaimedTask, place: StepPlace): Promise<void> {
    await this.inContext(task, () => this.advanceWithLease(task, new KeptLease(this.transitions, task), place));
    // The slot is free again: what waits for one need not wait for the next sweep.
    if (this.backlog) this.claimSoon();
  }

  private claimSoon(): void {
    setImmediate(() => void this.claim().catch((error: unknown) => log.error('task.claim_failed', { error })));
  }

  /** Runs one task alone, if there is one. A worker that has other work leaves it to idle ones first. */
  private async takeSuspect(): Promise<boolean> {
    if (this.stopping) return false;
    const dueMs = this.waitingAside > 0 ? LEFT_TO_OTHERS_MS : this.inHand === 0 ? 0 : LEFT_TO_IDLE_MS;
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
    const lease = new KeptLease(this.transitions, task);
    try {
      await this.lastClaim();
      this.letGo();
      await this.beside.empty();
      await this.slots.empty();
      // They would have this process do nothing else for as long as their upstreams are closed.
      this.gate.letGo();
      await this.aside.empty();
      if (this.stopping || lease.lost.aborted || !(await this.transitions.beginStep(task))) return;
      log.warn('task.run_alone', { taskId: task.id, lapses: task.lapses });
      this.slots.fill(this.advanceWithLease(task, lease));
      await this.slots.empty();
    } finally {
      lease.letGo();
    }
  }

  private inContext(task: ClaimedTask, work: () => Promise<void>): Promise<void> {
    return withLogContext({ taskId: task.id, requestId: task.request_id }, work);
  }

  /**
   * Keeps the lease while the step runs; a step whose lease was lost is aborted, because another worker has the task. So is
   * one whose time is over, and the slot is free soon after, even when it does not stop.
   */
  private async advanceWithLease(task: ClaimedTask, lease: KeptLease, place?: StepPlace): Promise<void> {
    const ending = new AbortController();
    this.endings.slots.add(ending);
    const stepPlace = place && { ...place, aside: this.asideOf(ending, place.aside) };
    const limit = {
      step: 'task',
      limitMs: this.advance.limitMs(task),
      signal: AbortSignal.any([ending.signal, lease.lost]),
    } as const;
    try {
      await withinLimit(limit, async (signal) => {
        await this.advance.advance(task, signal, stepPlace);
        if (signal.aborted && !limit.signal.aborted) await this.overran(task);
      });
    } catch (error) {
      log.error('task.advance_failed', { error });
      if (error instanceof StepAbandoned && !limit.signal.aborted) await this.overran(task);
    } finally {
      this.endings.slots.delete(ending);
      this.endings.aside.delete(ending);
      lease.letGo();
    }
  }

  /** From then on the work has the time that vendor calls have when this process stops. */
  private asideOf(ending: AbortController, aside: StepAside): StepAside {
    return () => {
      if (!this.endings.slots.delete(ending)) return;
      this.endings.aside.add(ending);
      aside();
    };
  }

  /** Never throws: a task that cannot be put back is free for any worker when its lease is over. */
  private async overran(task: ClaimedTask): Promise<void> {
    const putBack = this.advance.overran(task);
    putBack.catch((error: unknown) => log.error('task.put_back_failed', { error }));
    await endedWithin(putBack, ABANDON_GRACE_MS);
  }
}
