import { Inject, Injectable } from '@nestjs/common';
import {
  MediaFailure,
  type MediaOrder,
  type MediaUpstream,
  type Operation,
  type Started,
  type TaskFailureCode,
} from '#contracts';
import type { MediaStore } from '#media';
import { backoffMs, isFarAway, logger, SafeFetcher, signals } from '#platform';
import { FAILPOINTS, type Failpoints, MEDIA_STORE, TASK_NOTIFIER, type TaskNotifier } from '#runtime';
import { type Candidate, MediaUpstreams, type RoutedUpstream } from '../../upstreams/media-upstreams.js';
import { type MediaAdmission, MediaCircuits } from '../../upstreams/upstream-circuits.js';
import { backoffDelayMs, type ClaimedTask, type TaskRow } from '../task-row.js';
import { STORE_LIMITS } from '../injection-tokens.js';
import { PollSchedule } from '../poll/poll-schedule.js';
import { CallbackAddresses } from '../poll/vendor-callbacks.js';
import { SettleTaskService } from '../settle/settle-task.service.js';
import { StepAbandoned, withinLimit } from '../step-limit.js';
import { resultSpool, type StoreLimits } from '../store/result-files.js';
import { taskLog } from '../task-log.js';
import { type KnownCosts, type Retry, TaskTransitions } from '../task-transitions.js';
import { UpstreamLimits } from '../upstream-limits.js';
import {
  askToStop,
  notedCall,
  type RecordedCall,
  storableOperation,
  storableOutputs,
  storableText,
  waitMsOf,
} from '../vendor-call.js';
import type { StepSlot } from '../work-slots.js';
import { AdmissionController, HOLD_MS, WAITS } from './admission-controller.js';
import { CallJournal, type CallOutcome } from './call-journal.js';
import { referenceFiles } from './reference-files.js';
import type { AllowanceTake } from './start-statements.js';

const log = logger('generation');

/** The longest wait for a vendor that is asked to stop, in milliseconds. */
const CANCEL_MS = 10_000;

/** A call whose outcome is not known. */
interface LostCall {
  readonly reason: string;
  /** It was given up when its time was over, and may still be answered. */
  readonly isUnderWay: boolean;
}

interface OfferedCall {
  readonly noted: RecordedCall;
  readonly candidate: Candidate;
}

/** The failure of a call that ended with an error which is no `MediaFailure`. */
const BROKE_OFF = { code: 'upstream_unknown', reason: 'The call broke off.' } as const;

/** Code and reason as the caller reads them. */
const publicFailureOf = ({ code, publicReason }: MediaFailure): { code: TaskFailureCode; reason: string } => ({
  code,
  reason: storableText(publicReason),
});

/** @throws MediaFailure `ambiguous`: the vendor took the order under a name that cannot be kept. */
function storableStarted(started: Started): void {
  if (started.kind === 'operation') storableOperation(started.operation);
  else storableOutputs(started.outputs);
}

/** What the order takes of the upstream's allowance, where it has one. */
const takeOf = ({ routed: { upstream, limits }, plan }: Candidate): AllowanceTake | undefined =>
  limits.allowance && { upstream: upstream.id, allowance: limits.allowance, costMicros: plan.cost?.micros ?? 0n };

/** The cost that the vendor reported, and the one that its operator configured. */
const costsOf = ({ noted, candidate }: OfferedCall): KnownCosts => ({
  reported: noted.facts.cost,
  configured: candidate.plan.cost,
});

/**
 * What a log line says of a failed call: which upstream, at which try, what kind of failure (`why`, one of our own words), and
 * the vendor's status and code. Its sentence may repeat a prompt, so it stands in the task's timeline alone.
 */
const failureFields = (
  { id: taskId, attempt }: Pick<TaskRow, 'id' | 'attempt'>,
  upstream: string,
  { kind, reason: why, vendor: { status, code } }: MediaFailure,
) => ({ taskId, upstream, attempt, kind, why, status, code });

export interface StartAttempt {
  readonly task: ClaimedTask;
  readonly signal: AbortSignal;
  /** Absent: the worker does nothing else beside the step, so that the step waits for no upstream to open. */
  readonly slot: StepSlot | undefined;
}

/** For how long one attempt offers an order to one upstream after another, in milliseconds. */
export const SUBMIT_MS = 60_000;
/** A call that lasts longer than this frees its slot, so that other tasks continue beside it; in milliseconds. */
const RELEASE_SLOT_AFTER_MS = 500;
/** How long a busy vendor that names no time is not asked. */
const BUSY = { firstMs: 5_000, longestMs: 120_000, spread: 0.25 };

/** The outcomes after which the vendor may charge the order. */
const MAY_COST: ReadonlySet<CallOutcome> = new Set(['taken', 'finished', 'ambiguous']);

/** Why the task waits. `isLacking`: the upstream can never make this order. */
interface NotNow extends Retry {
  /** What it waits for: an upstream that opens by and by. */
  readonly held?: Candidate;
  readonly isLacking?: boolean;
}

/** What came of one call. `over`: the task has an upstream, or has ended. Otherwise the next upstream may be asked, or the task waits. */
type SubmissionResult = 'over' | NotNow;

/** One order that is being offered to one upstream. */
interface Offer {
  readonly step: StartAttempt;
  readonly order: MediaOrder;
  readonly candidate: Candidate;
  readonly admission: MediaAdmission;
  readonly noted: RecordedCall;
  readonly startedAtMs: number;
}

/**
 * Offers an order to its upstreams, one after the other, until one takes it, and records what came of it. The next is asked
 * only while it is certain that no earlier one has taken it: an order is never made twice.
 */
@Injectable()
export class UpstreamSubmitter {
  private readonly busyInARow = new Map<string, number>();

  constructor(
    private readonly upstreams: MediaUpstreams,
    private readonly admissions: AdmissionController,
    private readonly circuits: MediaCircuits,
    private readonly limits: UpstreamLimits,
    private readonly transitions: TaskTransitions,
    private readonly settlement: SettleTaskService,
    private readonly journal: CallJournal,
    private readonly schedule: PollSchedule,
    private readonly callbacks: CallbackAddresses,
    private readonly fetcher: SafeFetcher,
    @Inject(MEDIA_STORE) private readonly store: MediaStore,
    @Inject(STORE_LIMITS) private readonly storeLimits: StoreLimits,
    @Inject(TASK_NOTIFIER) private readonly notifier: TaskNotifier,
    @Inject(FAILPOINTS) private readonly failpoints: Failpoints,
  ) {}

  /** Milliseconds until the first of them opens again, a little jittered; 0 when one is open. */
  closedMs(candidates: readonly Candidate[], model: string): number {
    const waits = candidates.map(({ routed }) => this.admissions.closedMs(routed, model));
    return Math.min(...waits) * (1 + Math.random() / 4);
  }

  /** The vendor did not take this order. Whether one took an earlier one is still unknown, so the row must keep that record. */
  async later(task: TaskRow, retry: Retry): Promise<void> {
    await (task.start_intent_at ? this.transitions.retryLater(task, retry) : this.transitions.requeue(task, retry));
  }

  /** @returns whether the attempt is over; otherwise other upstreams than these make the order since it is kept in hand. */
  async submit(step: StartAttempt, order: MediaOrder, candidates: readonly Candidate[]): Promise<boolean> {
    const { upstreams, admissions } = this;
    const makers = upstreams.serving(order.model);
    const untilMs = performance.now() + HOLD_MS;
    let round = candidates;
    while (upstreams.serving(order.model) === makers) {
      const offered = await this.offerToEach(step, order, round);
      if (offered === 'over') return true;
      round = step.slot && performance.now() < untilMs ? offered.held : [];
      if (round.length > 0) step.slot?.releaseSlot();
      if (round.length > 0 && (await admissions.hold(round, step.signal))) continue;
      await this.later(step.task, offered.retry);
      return true;
    }
    return false;
  }

  private async offerToEach(step: StartAttempt, order: MediaOrder, candidates: readonly Candidate[]) {
    const untilMs = performance.now() + SUBMIT_MS;
    const refusals: NotNow[] = [];
    for (const candidate of candidates) {
      const offered = await this.offerTo(step, order, candidate);
      if (offered === 'over') return 'over';
      refusals.push(offered);
      if (performance.now() > untilMs) break;
    }
    const [retry] = refusals.toSorted((first, second) => first.delayMs - second.delayMs);
    if (!retry) return 'over';
    const waitedFor = refusals.flatMap(({ held }) => held ?? []);
    const held = waitedFor.length === candidates.length ? waitedFor : [];
    if (refusals.filter(({ isLacking }) => isLacking).length < candidates.length) return { retry, held };
    // Upstreams that can never make it would only be asked again until the deadline.
    await this.settlement.fail(step.task, 'upstream_error', retry.reason);
    return 'over';
  }

  private async offerTo(step: StartAttempt, order: MediaOrder, candidate: Candidate): Promise<SubmissionResult> {
    const { task, signal } = step;
    const { admissions, fetcher, store, storeLimits } = this;
    const { maxBytes } = storeLimits;
    const permit = await admissions.admit(candidate, { model: task.model, accountId: task.account_id });
    if ('waitMs' in permit) {
      const held = admissions.keepsInHand(candidate, permit.waitMs) ? { held: candidate } : {};
      return { reason: WAITS.closed, delayMs: permit.waitMs, counts: false, ...held };
    }
    const { admission } = permit;
    const intended = await this.intend(task, candidate);
    if (intended !== 'recorded') this.circuits.release(admission);
    if (intended === 'lost') return 'over';
    if (intended === 'full' || typeof intended === 'object') return admissions.recordFull(candidate, intended);
    this.failpoints.reach('after-start-intent');
    const files = referenceFiles(order.references, { fetcher, store, accountId: task.account_id, signal });
    const spool = resultSpool(task, { store, maxBytes, signal });
    const { upstream, callbacks } = candidate.routed;
    const callbackUrl = callbacks ? this.callbacks.of(upstream.id, task.id) : undefined;
    const carried = { files, spool, ...(callbackUrl !== undefined && { callbackUrl }) };
    const noted = notedCall(signal, candidate.plan.ticket, carried);
    return this.call({ step, order, candidate, admission, noted, startedAtMs: performance.now() });
  }

  private intend(task: TaskRow, candidate: Candidate) {
    const { routed, plan } = candidate;
    const { upstream, limits, isFallback = false } = routed;
    const { vendorAccount, id } = upstream;
    // An earlier attempt recorded the same intent and has already taken its part of the allowance.
    const isAgain = task.start_intent_at !== null && task.upstream_id === id;
    const within = isAgain ? undefined : takeOf(candidate);
    const below =
      limits.running === undefined
        ? undefined
        : {
            upstreams: this.upstreams.ofAccount(vendorAccount),
            most: limits.running,
            slots: plan.slots,
          };
    return this.transitions.recordStartIntent(task, {
      upstream: id,
      vendorAccount,
      ticket: plan.ticket,
      below,
      within,
      isFallback,
    });
  }

  private async call(offer: Offer): Promise<SubmissionResult> {
    const { step, order, candidate, noted } = offer;
    const { routed } = candidate;
    const { upstream } = routed;
    const { style, startTimeoutMs } = upstream.traits;
    const limit = { step: 'start', limitMs: startTimeoutMs, signal: step.signal } as const;
    const slotTimer = setTimeout(() => step.slot?.releaseSlot(), style === 'call' ? 0 : RELEASE_SLOT_AFTER_MS);
    let started: Started;
    try {
      started = await withinLimit(limit, (signal) => upstream.start(order, { ...noted.call, signal }));
      storableStarted(started);
    } catch (error) {
      if (error instanceof StepAbandoned) this.recordLate(step.task, routed, error.late, () => costsOf(offer));
      return this.failed(offer, error);
    } finally {
      clearTimeout(slotTimer);
    }
    this.busyInARow.delete(upstream.vendorAccount);
    this.circuits.recordSuccess(routed, offer.admission);
    this.failpoints.reach('after-vendor-start');
    this.note(offer, started.kind === 'operation' ? 'taken' : 'finished');
    await this.recordStarted(step.task, routed, started, costsOf(offer));
    return 'over';
  }

  /** What was thrown decides: whether another may be asked, the task waits or fails with the reason, or the outcome is unknown. */
  private async failed(offer: Offer, error: unknown): Promise<SubmissionResult> {
    const { step, candidate, admission } = offer;
    const { task } = step;
    const { routed } = candidate;
    const { upstream } = routed;
    const { circuits, settlement } = this;
    const unforeseen = !(error instanceof MediaFailure);
    // Repeating this order is safe, so it is retried like other failures, and parked when retries are used up.
    if (unforeseen && upstream.traits.repeatStart === 'idempotent') {
      circuits.release(admission);
      throw error;
    }
    const failure = unforeseen ? new MediaFailure('ambiguous', 'unanswered', { cause: error }) : error;
    const { kind } = failure;
    const { code, reason } = unforeseen ? BROKE_OFF : publicFailureOf(failure);
    this.note(offer, kind, failure);
    const taken = takeOf(candidate);
    if (taken && kind !== 'ambiguous') await this.transitions.giveBackAllowance(task, taken);
    log.warn('upstream.start_failed', { ...failureFields(task, upstream.id, failure), reason, error: failure.cause });
    const later: NotNow = { reason, delayMs: backoffDelayMs(task.attempt - 1), counts: false };
    switch (kind) {
      case 'busy':
        // Until tomorrow it is not busy, but used up.
        if (isFarAway(failure.retryAfterMs)) return this.rests(offer, failure, later);
        circuits.release(admission);
        return { ...later, delayMs: await this.pause(offer, failure) };
      case 'unavailable':
        circuits.recordFailure(routed, admission);
        return later;
      case 'unfit':
        return this.rests(offer, failure, later);
      case 'unsupported':
        circuits.release(admission);
        // Another may be able to; when there is none, the task fails with this reason.
        return { ...later, isLacking: true };
      case 'refused':
        circuits.release(admission);
        await settlement.fail(task, code, reason);
        return 'over';
      default:
        circuits.recordFailure(routed, admission);
        await this.unconfirmed(offer, error, reason, failure);
        return 'over';
    }
  }

  /** It is left alone until an operator has mended something, or until the time that it names. */
  private rests({ candidate, admission }: Offer, failure: MediaFailure, later: NotNow): NotNow {
    this.circuits.markMisconfigured(candidate.routed, failure, admission);
    return later;
  }

  /** A vendor that recognises a repeated order, or can be asked for it, gets another attempt; any other never does. */
  private async unconfirmed({ step, candidate }: Offer, error: unknown, reason: string, failure: MediaFailure) {
    const { task } = step;
    const { transitions } = this;
    const isUnderWay = error instanceof StepAbandoned;
    if (candidate.routed.upstream.traits.repeatStart === 'unknown')
      return this.recordLost(task, candidate.routed, { reason, isUnderWay });
    if (!isUnderWay) await transitions.recordStartEnd(task);
    const delayMs = waitMsOf(failure.retryAfterMs) || backoffDelayMs(task.attempt - 1);
    await transitions.retryLater(task, { reason, delayMs, counts: false });
  }

  /** Pauses a busy vendor for every worker, whole or for the model that it names. Milliseconds. */
  private async pause({ step, candidate }: Offer, { scope, retryAfterMs }: MediaFailure): Promise<number> {
    const { vendorAccount } = candidate.routed.upstream;
    const inARow = this.busyInARow.get(vendorAccount) ?? 0;
    this.busyInARow.set(vendorAccount, inARow + 1);
    const pauseMs = waitMsOf(retryAfterMs) || backoffMs(BUSY, inARow);
    const call = scope === 'model' ? (`start ${step.task.model}` as const) : 'start';
    await this.limits.pause(vendorAccount, call, pauseMs);
    return pauseMs;
  }

  /** Counts the call and writes it to the journal; orders that the sandbox took are only counted. */
  private note(offer: Offer, outcome: CallOutcome, failure?: MediaFailure): void {
    const { step, candidate, noted, startedAtMs } = offer;
    const { id: upstream, vendorAccount, protocol } = candidate.routed.upstream;
    signals.mediaOrders.inc({ upstream, outcome });
    if (protocol === 'sandbox' && outcome === 'taken') return;
    const { id: taskId, attempt } = step.task;
    const cost = noted.facts.cost ?? (MAY_COST.has(outcome) ? candidate.plan.cost : undefined);
    const words = failure?.vendor ?? {};
    const { facts } = noted;
    this.journal.note({ taskId, attempt, upstream, vendorAccount, startedAtMs, outcome, words, facts, cost });
  }

  /** The upstream has it: noted in the row or, when the task has moved on, as an orphan, work that no task waits for. */
  async recordStarted(
    task: ClaimedTask,
    { upstream }: RoutedUpstream,
    started: Started,
    costs: KnownCosts,
  ): Promise<void> {
    const { transitions, notifier } = this;
    if (started.kind === 'finished') {
      if (await transitions.setFinished(task, upstream.id, started.outputs, costs))
        notifier.notifyHereFirst(task.medium, [task.id]);
      else log.warn('upstream.finished_late', { taskId: task.id, upstream: upstream.id });
      return;
    }
    await this.taken(task, upstream, storableOperation(started.operation), costs);
  }

  private async taken(task: ClaimedTask, upstream: MediaUpstream, operation: Operation, costs: KnownCosts) {
    const { transitions, failpoints } = this;
    const { id: upstreamId, vendorAccount, traits } = upstream;
    const name = upstream.nameOf?.(operation);
    const work = { upstreamId, vendorAccount, name, operation, firstCheckMs: traits.firstCheckMs, costs };
    const outcome = await transitions.setRunning(task, work);
    if (outcome === 'anothers') return this.mixedUp(task, upstreamId, operation);
    if (outcome === 'running') {
      this.schedule.expectPoll(upstreamId);
      taskLog.started(task, upstreamId, operation);
      failpoints.reach('after-running');
      return;
    }
    log.warn('upstream.orphaned', { taskId: task.id, upstream: upstreamId });
    const unwanted = await transitions.recordOrphan(task.id, upstreamId, operation);
    if (unwanted) await this.stopOrphan(task, upstream, operation);
  }

  /** The operation may belong to another customer: only the task that got the name first may have its files. */
  private async mixedUp(task: ClaimedTask, upstream: string, operation: Operation): Promise<void> {
    signals.mediaOrders.inc({ upstream, outcome: 'mixed_up' });
    log.error('upstream.order_mixed_up', { taskId: task.id, upstream, operation });
    await this.settlement.fail(
      task,
      'upstream_error',
      'The vendor mixed this order up with another one. It was not made, and nothing was charged.',
    );
  }

  /**
   * A call was lost whose vendor cannot say whether it took the order. Only a call that is still under way can tell of an
   * operation, and only a vendor that calls back of work that nobody else knows of: then the task waits for its deadline. Any
   * other fails at once, or is sent once more where the operator of an upstream that answers with its files said so.
   */
  async recordLost(task: ClaimedTask, routed: RoutedUpstream, { reason, isUnderWay }: LostCall): Promise<void> {
    const { transitions, settlement } = this;
    const { upstream, lostCalls, callbacks } = routed;
    const isTask = upstream.traits.style === 'task';
    if (isTask && (isUnderWay || callbacks)) return void (await transitions.awaitDeadline(task, reason));
    if (!isTask && lostCalls === 'repeat_once' && (await transitions.repeatLostCall(task, reason))) return;
    await settlement.fail(
      task,
      'upstream_unknown',
      'The call to the vendor was lost. It was not sent again, and nothing was charged.',
    );
  }

  private async stopOrphan(task: TaskRow, upstream: MediaUpstream, operation: Operation): Promise<void> {
    const outcome = await askToStop(upstream, { taskId: task.id, operation }, CANCEL_MS);
    if (outcome === 'cancelled') await this.transitions.resolveOrphan(task.id, operation);
  }

  /** A vendor that answers after all has taken the order: noted in the task while it is still this attempt's, else as an orphan. */
  private recordLate(task: ClaimedTask, routed: RoutedUpstream, late: Promise<unknown>, costs: () => KnownCosts): void {
    late
      .then((started) => this.recordStarted(task, routed, started as Started, costs()))
      .catch((error: unknown) => log.warn('upstream.start_failed_late', { taskId: task.id, error }));
  }
}
