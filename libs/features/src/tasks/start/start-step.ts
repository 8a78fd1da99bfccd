import { Injectable } from '@nestjs/common';
import {
  type MeasuredReference,
  MediaFailure,
  type MediaOrder,
  type MediaReference,
  type MediaUpstream,
  type PlannedOrder,
  type Started,
  type VendorCost,
} from '#contracts';
import {
  checkReferences,
  FileMemory,
  InvalidMedia,
  isDataUri,
  measureReferences,
  type MediaStore,
  NoMemoryForFiles,
} from '#media';
import { logger, type SafeFetcher } from '#platform';
import { type Candidate, MediaRouter, MediaUpstreams, type RoutedUpstream } from '../../upstreams/media-upstreams.js';
import { backoffDelayMs, type ClaimedTask, type TaskRow } from '../task-row.js';
import { SettleTaskService } from '../settle/settle-task.service.js';
import { withinLimit } from '../step-limit.js';
import { catalogFamily, plannedOrderOf } from '../submit/planned-order.js';
import { type KnownCosts, TaskTransitions } from '../task-transitions.js';
import { bareTicket, notedCall, storableText, waitMsOf } from '../vendor-call.js';
import { PutBack, type StepSlot } from '../work-slots.js';
import { AdmissionController, HOLD_MS, WAITS } from './admission-controller.js';
import { type StartAttempt, SUBMIT_MS, UpstreamSubmitter } from './upstream-submitter.js';

const log = logger('generation');

/**
 * The time limits for checking all files an order refers to, which ends by itself before, with the wait for a slot behind it;
 * and for finding an order.
 */
const LIMITS = { references: 120_000, find: 30_000 } as const;
/** How long a task waits whose files the worker had no room to look at, in milliseconds; up to twice as long. */
const NO_ROOM_MS = 1_000;
/** What the statements of the step may take besides, in milliseconds. */
const STATEMENTS_MS = 30_000;
/** How long a task waits whose upstream no process knows any more, in milliseconds. */
const UNKNOWN_UPSTREAM_MS = 10_000;
/** The longest that a call of such an upstream may have lasted. */
const UNKNOWN_START_MS = 30_000;

type Asked = Pick<TaskRow, 'model' | 'parameters'>;

/** All files of one task together may take as long as so many of them, each at its limit. */
const FILES_TIME = 3;

/** What is kept of all files that are looked at, in bytes: of most one block, of a video with a large header 2 MB. */
const MEMORY_BYTES = 128 * 1024 * 1024;

/** Checks the files a request refers to, before any vendor sees the order. */
export class ReferenceCheck {
  private readonly memory = new FileMemory(MEMORY_BYTES);

  constructor(
    private readonly fetcher: SafeFetcher,
    /** The time limit for checking one file, in milliseconds. */
    private readonly fileTimeoutMs: number,
    private readonly store: MediaStore,
  ) {}

  /** Those that are not in the request itself. Its long texts need not be in their places. */
  elsewhere({ model, parameters }: Asked): MediaReference[] {
    const references: readonly (Omit<MediaReference, 'source'> & { source: unknown })[] =
      catalogFamily(model).references(parameters);
    return references.filter(
      (reference): reference is MediaReference => typeof reference.source === 'string' && !isDataUri(reference.source),
    );
  }

  /** Looks at such files. @throws InvalidMedia naming the file and the rule it broke; NoMemoryForFiles. */
  lookAt(
    files: readonly MediaReference[],
    { account_id: accountId }: Pick<TaskRow, 'account_id'>,
    signal: AbortSignal,
  ): Promise<MeasuredReference[]> {
    return measureReferences(files, {
      fetcher: this.fetcher,
      store: this.store,
      memory: this.memory,
      timeoutMs: this.fileTimeoutMs,
      deadline: performance.now() + this.fileTimeoutMs * FILES_TIME,
      signal,
      accountId,
    });
  }

  /** Checks the others, and all together. @throws InvalidMedia naming the file and the rule it broke. */
  check({ model, parameters }: Asked, elsewhere: readonly MeasuredReference[]): Promise<MeasuredReference[]> {
    const family = catalogFamily(model);
    return checkReferences(family.references(parameters), family.totalSeconds(parameters), elsewhere);
  }
}

/** Hands a claimed task to an upstream, at most once however often workers die in between. */
@Injectable()
export class StartStep {
  constructor(
    private readonly upstreams: MediaUpstreams,
    private readonly router: MediaRouter,
    private readonly references: ReferenceCheck,
    private readonly admissions: AdmissionController,
    private readonly submitter: UpstreamSubmitter,
    private readonly transitions: TaskTransitions,
    private readonly settlement: SettleTaskService,
  ) {}

  /** @param slot what the step leaves while it only waits for others. */
  async run(task: ClaimedTask, signal: AbortSignal, slot?: StepSlot): Promise<void> {
    if (await this.stopUnconfirmed(task)) return;
    const earlier = this.earlierUpstream(task);
    if (earlier === 'unknown') return this.awaitUpstream(task);
    const step = { task, signal, slot };
    if (earlier && earlier.upstream.traits.repeatStart !== 'idempotent') return this.resume(step, earlier);
    return this.startFresh(step, earlier);
  }

  /** The longest `run` may take, in milliseconds. */
  limitMs(task: ClaimedTask): number {
    const earlier = this.earlierUpstream(task);
    const makers = earlier === 'unknown' ? [] : earlier ? [earlier] : this.upstreams.serving(task.model);
    const startMs = Math.max(UNKNOWN_START_MS, ...makers.map(({ upstream }) => upstream.traits.startTimeoutMs));
    const holdMs = makers.some(({ limits }) => limits.startsPerMinute !== undefined) ? HOLD_MS : 0;
    return LIMITS.references + LIMITS.find + holdMs + SUBMIT_MS + startMs + STATEMENTS_MS;
  }

  /**
   * Stops a task whose owner wants that, where no vendor can be asked to: none was called, or the one that was called
   * cannot say, and the call ended with its worker. To send the order again, only to have it stopped, could end more of them.
   */
  async stopUnconfirmed(task: ClaimedTask): Promise<boolean> {
    if (!task.cancel_requested_at) return false;
    const earlier = this.earlierUpstream(task);
    if (!earlier) return this.settlement.cancelUnstarted(task.id);
    if (earlier === 'unknown' || earlier.upstream.traits.repeatStart !== 'idempotent' || task.crash_count === 0)
      return false;
    log.warn('task.cancelled_unconfirmed', { taskId: task.id, upstream: earlier.upstream.id });
    return this.settlement.cancel(task.id, ['submitting']);
  }

  private earlierUpstream({
    start_intent_at: announced,
    upstream_id: upstreamId,
    ticket,
  }: TaskRow): RoutedUpstream | 'unknown' | null {
    if (!announced || !upstreamId) return null;
    const routed = this.upstreams.byId(upstreamId);
    // Under another key, or at another server, the order would be a new one.
    const isOther = ticket?.access !== undefined && ticket.access !== routed?.upstream.access;
    return routed && !isOther ? routed : 'unknown';
  }

  /** Its upstream may come back with the next configuration; the deadline ends it if nothing else does. */
  private async awaitUpstream(task: ClaimedTask): Promise<void> {
    log.error('upstream.unknown', { taskId: task.id, upstream: task.upstream_id });
    const reason = 'The upstream that was called is not configured any more as it was then.';
    await this.transitions.retryLater(task, { reason, delayMs: UNKNOWN_UPSTREAM_MS, counts: false });
  }

  /** @param only the one that an earlier attempt called, if any. */
  private async startFresh(given: StartAttempt, only: RoutedUpstream | null): Promise<void> {
    const { submitter, transitions, router, admissions } = this;
    // Before the long texts of the task are in memory: how long this takes is up to hosts that its owner chose.
    const elsewhere = await this.lookElsewhere(given);
    if (!elsewhere) return;
    const task = await transitions.withLargeParameters(given.task);
    const step = { ...given, task };
    const planned = plannedOrderOf(task.id, catalogFamily(task.model), task);
    const makers = only ? againOf(only, planned) : router.candidatesFor(planned, task.account_id);
    const [cannot] = makers.cannot;
    if (makers.candidates.length === 0) {
      if (cannot && !task.start_intent_at) {
        await this.settlement.fail(task, 'upstream_error', cannot.cannot);
        return;
      }
      const reason = 'No upstream makes this model at present.';
      await submitter.later(task, { reason, delayMs: backoffDelayMs(task.attempt - 1), counts: false });
      return;
    }
    const waitMs = submitter.closedMs(makers.candidates, task.model);
    const isKept = given.slot && makers.candidates.every((maker) => admissions.keepsInHand(maker, waitMs));
    if (waitMs > 0 && !isKept) return submitter.later(task, { reason: WAITS.closed, delayMs: waitMs, counts: false });
    const order = await this.prepare(step, planned, elsewhere);
    if (order && !(await submitter.submit(step, order, makers.candidates))) await this.startFresh(given, only);
  }

  /** Looks at the files elsewhere that the order points at, outside the slot. Null: the task has been ended or put back. */
  private async lookElsewhere({ task, signal, slot }: StartAttempt): Promise<MeasuredReference[] | null> {
    const files = this.references.elsewhere(task);
    if (files.length === 0) return [];
    const look = (putBack?: AbortSignal): Promise<MeasuredReference[]> => {
      const ending = putBack ? AbortSignal.any([signal, putBack]) : signal;
      const limit = { step: 'references', limitMs: LIMITS.references, signal: ending } as const;
      return withinLimit(limit, (limited) => this.references.lookAt(files, task, limited));
    };
    try {
      return await (slot ? slot.outsideSlot(look) : look());
    } catch (error) {
      if (!(error instanceof PutBack || error instanceof NoMemoryForFiles)) return this.refuse(task, error);
      const delayMs = NO_ROOM_MS * (1 + Math.random());
      await this.submitter.later(task, { reason: error.message, delayMs, counts: false });
      return null;
    }
  }

  /** Checks what the order holds itself, and all its files together. Null: it broke a rule, and the task has been ended. */
  private async prepare(
    { task }: StartAttempt,
    planned: PlannedOrder,
    elsewhere: readonly MeasuredReference[],
  ): Promise<MediaOrder | null> {
    try {
      const references = await this.references.check(task, elsewhere);
      return { ...planned, references, attempt: task.attempt };
    } catch (error) {
      return this.refuse(task, error);
    }
  }

  private async refuse(task: ClaimedTask, error: unknown): Promise<null> {
    if (!(error instanceof InvalidMedia) || task.start_intent_at) throw error;
    await this.settlement.fail(task, 'invalid_media', error.message);
    return null;
  }

  /**
   * An earlier attempt announced the call and then went silent, so the vendor may have the order. A vendor that can be
   * asked is asked, and only what it does not know after the time it needs to know is sent again; with any other vendor
   * nothing is sent again.
   */
  private async resume(step: StartAttempt, routed: RoutedUpstream): Promise<void> {
    const { task } = step;
    const { submitter, transitions } = this;
    const { upstream } = routed;
    if (!upstream.find) {
      log.warn('task.start_unknown', { taskId: task.id, upstream: upstream.id });
      const reason = 'The start was interrupted; the vendor cannot say whether it has the order.';
      return submitter.recordLost(task, routed, { reason, isUnderWay: false });
    }
    const waitMs = latestSendMs(task, upstream) + upstream.traits.findableAfterMs - task.claimed_at.getTime();
    try {
      const { found, reported } = await this.find(step, upstream);
      if (found)
        return await submitter.recordStarted(task, routed, found, {
          reported,
          ...(await this.configured(step, routed)),
        });
    } catch (error) {
      // However long the vendor cannot be asked, the order is not sent again and the task is not given up before its time.
      if (!(error instanceof MediaFailure)) throw error;
      const delayMs = waitMsOf(error.retryAfterMs) || backoffDelayMs(task.attempt - 1);
      await transitions.retryLater(task, { reason: storableText(error.publicReason), delayMs, counts: false });
      return;
    }
    if (waitMs <= 0) {
      // The vendor does not have it, and it was cancelled.
      if (task.cancel_requested_at && (await this.settlement.cancel(task.id, ['submitting']))) return;
      return this.startFresh(step, null);
    }
    const reason = 'The vendor does not know the order yet.';
    await transitions.retryLater(task, { reason, delayMs: waitMs, counts: false });
  }

  private find({ task, signal }: StartAttempt, upstream: MediaUpstream): Promise<Found> {
    const limit = { step: 'find', limitMs: LIMITS.find, signal } as const;
    const ticket = task.ticket ?? bareTicket(upstream, task.id);
    return withinLimit(limit, async (limited) => {
      const { call, facts } = notedCall(limited, ticket);
      return { found: (await upstream.find?.(call)) ?? null, reported: facts.cost };
    });
  }

  private async configured({ task }: StartAttempt, { upstream }: RoutedUpstream): Promise<KnownCosts> {
    const whole = await this.transitions.withLargeParameters(task);
    const plan = upstream.plan(plannedOrderOf(task.id, catalogFamily(task.model), whole));
    return 'cannot' in plan ? {} : { configured: plan.cost };
  }
}

/** What the vendor has of an order, and what it says that it costs. */
interface Found {
  readonly found: Started | null;
  readonly reported: VendorCost | undefined;
}

/** The same order to the same upstream, which recognises it: no other upstream may get it. */
function againOf(routed: RoutedUpstream, order: PlannedOrder): { candidates: Candidate[]; cannot: [] } {
  const plan = routed.upstream.plan(order);
  return { candidates: 'cannot' in plan ? [] : [{ routed, plan }], cannot: [] };
}

/** The last moment at which the earlier call can have reached the vendor, in Unix milliseconds of the database's clock. */
function latestSendMs({ start_intent_at: announced, start_ended_at: ended }: TaskRow, upstream: MediaUpstream): number {
  return ended ? ended.getTime() : (announced?.getTime() ?? 0) + upstream.traits.startTimeoutMs;
}
