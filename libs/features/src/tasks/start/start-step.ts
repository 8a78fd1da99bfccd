import { Inject, Injectable } from '@nestjs/common';
import {
  type MeasuredReference,
  MediaFailure,
  type MediaOrder,
  type MediaUpstream,
  type PlannedOrder,
  type Started,
  type VendorCost,
} from '#contracts';
import { InvalidMedia, NoMemoryForFiles } from '#media';
import { logger } from '#platform';
import type { Candidate, RoutedUpstream } from '../../upstreams/media-upstreams.js';
import { backoffDelayMs } from '../attempts.js';
import { WorkerParts } from '../run/worker-parts.js';
import { withinLimit } from '../step-limit.js';
import { catalogFamily, plannedOrderOf } from '../submit/planned-order.js';
import type { ClaimedTask, TaskRow } from '../task-row.js';
import type { KnownCosts } from '../task-transitions.js';
import { bareTicket, notedCall, storableText, waitMsOf } from '../vendor-call.js';
import { PutBack, type StepPlace } from '../work-slots.js';
import { HOLD_MS, WAITS } from './admission-controller.js';
import { HandedOver, HandOver, HANDOVER_MS, type StartAttempt } from './upstream-submitter.js';

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

type StartStepParts = Pick<WorkerParts, 'transitions' | 'settlement' | 'upstreams' | 'router' | 'gate' | 'references'>;

/** Hands a claimed task to an upstream, at most once however often workers die in between. */
@Injectable()
export class StartStep {
  constructor(
    @Inject(WorkerParts) private readonly parts: StartStepParts,
    private readonly handOver: HandOver,
    private readonly handedOver: HandedOver,
  ) {}

  /** @param place what the step leaves while it only waits for others. */
  async run(task: ClaimedTask, signal: AbortSignal, place?: StepPlace): Promise<void> {
    if (await this.stopUnconfirmed(task)) return;
    const earlier = this.earlierUpstream(task);
    if (earlier === 'unknown') return this.awaitUpstream(task);
    const step = { task, signal, aside: place?.aside, beside: place?.beside };
    if (earlier && earlier.upstream.traits.repeatStart !== 'idempotent') return this.resume(step, earlier);
    return this.startFresh(step, earlier);
  }

  /** The longest `run` may take, in milliseconds. */
  limitMs(task: ClaimedTask): number {
    const earlier = this.earlierUpstream(task);
    const makers = earlier === 'unknown' ? [] : earlier ? [earlier] : this.parts.upstreams.serving(task.model);
    const startMs = Math.max(UNKNOWN_START_MS, ...makers.map(({ upstream }) => upstream.traits.startTimeoutMs));
    const holdMs = makers.some(({ limits }) => limits.startsPerMinute !== undefined) ? HOLD_MS : 0;
    return LIMITS.references + LIMITS.find + holdMs + HANDOVER_MS + startMs + STATEMENTS_MS;
  }

  /**
   * Stops a task whose owner wants that, where no vendor can be asked to: none was called, or the one that was called
   * cannot say, and the call ended with its worker. To send the order again, only to have it stopped, could end more of them.
   */
  async stopUnconfirmed(task: ClaimedTask): Promise<boolean> {
    if (!task.cancel_requested_at) return false;
    const earlier = this.earlierUpstream(task);
    if (!earlier) return this.parts.settlement.cancelUnstarted(task.id);
    if (earlier === 'unknown' || earlier.upstream.traits.repeatStart !== 'idempotent' || task.lapses === 0)
      return false;
    log.warn('task.cancelled_unconfirmed', { taskId: task.id, provider: earlier.upstream.id });
    return this.parts.settlement.cancel(task.id, ['submitting']);
  }

  private earlierUpstream({ start_intent_at: announced, provider }: TaskRow): RoutedUpstream | 'unknown' | null {
    return announced && provider ? (this.parts.upstreams.byId(provider) ?? 'unknown') : null;
  }

  /** Its upstream may come back with the next configuration; the deadline ends it if nothing else does. */
  private async awaitUpstream(task: ClaimedTask): Promise<void> {
    log.error('upstream.unknown', { taskId: task.id, provider: task.provider });
    const reason = 'The upstream that was called is not configured any more.';
    await this.parts.transitions.retryLater(task, { reason, delayMs: UNKNOWN_UPSTREAM_MS, counts: false });
  }

  /** @param only the one that an earlier attempt called, if any. */
  private async startFresh(given: StartAttempt, only: RoutedUpstream | null): Promise<void> {
    const { handOver } = this;
    const { transitions, router, gate } = this.parts;
    const { aside } = given;
    // Before the long texts of the task are in memory: how long this takes is up to hosts that its owner chose.
    const elsewhere = await this.lookElsewhere(given);
    if (!elsewhere) return;
    const task = await transitions.withLongTexts(given.task);
    const step = { ...given, task };
    const planned = plannedOrderOf(task.id, catalogFamily(task.model), task);
    const makers = only ? againOf(only, planned) : router.candidatesFor(planned, task.account_id);
    const [cannot] = makers.cannot;
    if (makers.candidates.length === 0) {
      if (cannot && !task.start_intent_at) {
        await this.parts.settlement.fail(task, 'upstream_error', cannot.cannot);
        return;
      }
      const reason = 'No upstream makes this model at present.';
      await handOver.later(task, { reason, delayMs: backoffDelayMs(task.attempt - 1), counts: false });
      return;
    }
    const waitMs = handOver.closedMs(makers.candidates, task.model);
    const isKept = aside && makers.candidates.every((maker) => gate.keepsInHand(maker, waitMs));
    if (waitMs > 0 && !isKept) return handOver.later(task, { reason: WAITS.closed, delayMs: waitMs, counts: false });
    const order = await this.prepare(step, planned, elsewhere);
    if (order && !(await handOver.offer(step, order, makers.candidates))) await this.startFresh(given, only);
  }

  /** Looks at the files elsewhere that the order points at, outside the slot. Null: the task has been ended or put back. */
  private async lookElsewhere({ task, signal, beside }: StartAttempt): Promise<MeasuredReference[] | null> {
    const files = this.parts.references.elsewhere(task);
    if (files.length === 0) return [];
    const look = (letGo?: AbortSignal): Promise<MeasuredReference[]> => {
      const ending = letGo ? AbortSignal.any([signal, letGo]) : signal;
      const limit = { step: 'references', limitMs: LIMITS.references, signal: ending } as const;
      return withinLimit(limit, (limited) => this.parts.references.lookAt(files, task, limited));
    };
    try {
      return await (beside ? beside(look) : look());
    } catch (error) {
      if (!(error instanceof PutBack || error instanceof NoMemoryForFiles)) return this.refuse(task, error);
      const delayMs = NO_ROOM_MS * (1 + Math.random());
      await this.handOver.later(task, { reason: error.message, delayMs, counts: false });
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
      const references = await this.parts.references.check(task, elsewhere);
      return { ...planned, references, attempt: task.attempt };
    } catch (error) {
      return this.refuse(task, error);
    }
  }

  private async refuse(task: ClaimedTask, error: unknown): Promise<null> {
    if (!(error instanceof InvalidMedia) || task.start_intent_at) throw error;
    await this.parts.settlement.fail(task, 'invalid_media', error.message);
    return null;
  }

  /**
   * An earlier attempt announced the call and then went silent, so the vendor may have the order. A vendor that can be
   * asked is asked, and only what it does not know after the time it needs to know is sent again; with any other vendor
   * nothing is sent again.
   */
  private async resume(step: StartAttempt, routed: RoutedUpstream): Promise<void> {
    const { task } = step;
    const { handedOver } = this;
    const { transitions } = this.parts;
    const { upstream } = routed;
    if (!upstream.find) {
      log.warn('task.start_unknown', { taskId: task.id, provider: upstream.id });
      const reason = 'The start was interrupted; the vendor cannot say whether it has the order.';
      return handedOver.lost(task, routed, { reason, isUnderWay: false });
    }
    const waitMs = latestSendMs(task, upstream) + upstream.traits.findableAfterMs - task.claimed_at.getTime();
    try {
      const { found, reported } = await this.find(step, upstream);
      if (found)
        return await handedOver.started(task, routed, found, { reported, ...(await this.configured(step, routed)) });
    } catch (error) {
      // However long the vendor cannot be asked, the order is not sent again and the task is not given up before its time.
      if (!(error instanceof MediaFailure)) throw error;
      const delayMs = waitMsOf(error.retryAfterMs) || backoffDelayMs(task.attempt - 1);
      await transitions.retryLater(task, { reason: storableText(error.publicReason), delayMs, counts: false });
      return;
    }
    if (waitMs <= 0) {
      // The vendor does not have it, and it was cancelled.
      if (task.cancel_requested_at && (await this.parts.settlement.cancel(task.id, ['submitting']))) return;
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

  /** What the order of an earlier attempt costs by configuration. */
  private async configured({ task }: StartAttempt, { upstream }: RoutedUpstream): Promise<KnownCosts> {
    const whole = await this.parts.transitions.withLongTexts(task);
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
