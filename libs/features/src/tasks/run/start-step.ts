import { ProviderError, type MediaOrder, type MediaProvider, type Operation } from '#contracts';
import { InvalidMedia } from '#media';
import { logger } from '#platform';
import type { MediaProviderRegistry } from '#providers';
import { type Failpoints } from '#runtime';
import { catalogFamily } from '../submit/catalog-family.js';
import type { ClaimedTask, TaskRow } from '../task-row.js';
import { MAX_FAILURES } from '../attempts.js';
import { backoffDelayMs } from '../backoff.js';
import type { ReferenceCheck } from './reference-check.js';
import type { SettleTaskService } from '../settle/settle-task.service.js';
import { StepAbandoned, withinLimit } from './step-limit.js';
import { taskLog } from '../task-log.js';
import type { Retry, TaskTransitions } from '../task-transitions.js';
import type { UpstreamLimits } from './upstream-limits.js';
import { storableOperation, storableText, waitMsOf } from '../poll/vendor-answers.js';

const log = logger('generation');

/** The first look at a fresh operation; later looks follow what the vendor says. */
const FIRST_POLL_MS = 300;

/** How long a call, and then the showing up of its order, may take at a vendor that does not say so itself, in milliseconds. */
const START_TIMEOUT_MS = 30_000;
const FINDABLE_AFTER_MS = 30_000;

/** The longest look at all files that an order points at, the longest search for an order, and the longest telling a vendor to stop. */
const LIMITS = { references: 120_000, find: 30_000, cancel: 10_000 } as const;
/** What the statements of the step may take besides, in milliseconds. */
const STATEMENTS_MS = 30_000;

const startLimitMs = (provider: MediaProvider): number => provider.startTimeoutMs ?? START_TIMEOUT_MS;

/** What the step works with. */
export interface StartStepParts {
  readonly moves: TaskTransitions;
  readonly settlement: SettleTaskService;
  readonly providers: MediaProviderRegistry;
  readonly references: ReferenceCheck;
  readonly limits: UpstreamLimits;
  readonly failpoints: Failpoints;
}

/** Hands a claimed task to its vendor, at most once however often workers die in between. */
export class StartStep {
  constructor(private readonly parts: StartStepParts) {}

  async run(task: ClaimedTask, signal: AbortSignal): Promise<void> {
    if (await this.stopUnconfirmed(task)) return;
    const earlier = this.earlierProvider(task);
    if (earlier && earlier.repeatStart !== 'idempotent') return this.resume(task, earlier, signal);
    return this.startFresh(task, earlier ?? this.parts.providers.providerOf(task.model), signal);
  }

  /** The longest `run` may take, in milliseconds. */
  limitMs(task: ClaimedTask): number {
    const provider = this.earlierProvider(task) ?? this.parts.providers.providerOf(task.model);
    return LIMITS.references + LIMITS.find + LIMITS.cancel + startLimitMs(provider) + STATEMENTS_MS;
  }

  /**
   * Stops a task whose owner wants that, where no vendor can be asked to: none was called, or the one that was called
   * cannot tell, and the call ended with its worker. To send the order again, only to have it stopped, could end more of them.
   */
  async stopUnconfirmed(task: ClaimedTask): Promise<boolean> {
    if (!task.cancel_requested_at) return false;
    const earlier = this.earlierProvider(task);
    if (!earlier) return this.parts.settlement.cancelUnstarted(task.id);
    if (earlier.repeatStart !== 'idempotent' || task.lapses === 0) return false;
    log.warn('task.cancelled_unconfirmed', { taskId: task.id, provider: earlier.id });
    return this.parts.settlement.cancel(task.id, ['submitting']);
  }

  private earlierProvider({ start_intent_at: announced, provider }: TaskRow): MediaProvider | null {
    return announced && provider ? this.parts.providers.providerById(provider) : null;
  }

  private async startFresh(task: ClaimedTask, provider: MediaProvider, signal: AbortSignal): Promise<void> {
    const { moves, failpoints } = this.parts;
    if (await this.waitsForVendor(task, provider)) return;
    const order = await this.prepare(task, signal);
    if (!order) return;
    if (!(await moves.recordStartIntent(task, provider.id))) return;
    failpoints.reach('after-start-intent');
    let operation: Operation;
    try {
      const limit = { step: 'start', limitMs: startLimitMs(provider), signal } as const;
      operation = storableOperation(await withinLimit(limit, (limited) => provider.start(order, limited)));
    } catch (error) {
      if (error instanceof StepAbandoned) this.awaitLate(task, provider, error.late);
      return this.startFailed(task, provider, error);
    }
    failpoints.reach('after-vendor-start');
    await this.started(task, provider, operation);
  }

  /** A vendor that asked to be left alone gets nothing new; the task keeps its place and is not blamed. */
  private async waitsForVendor(task: ClaimedTask, provider: MediaProvider): Promise<boolean> {
    const pausedMs = await this.parts.limits.pausedMs(provider.id, 'start');
    if (pausedMs === 0) return false;
    const delayMs = pausedMs * (1 + Math.random() / 4);
    await this.startLater(task, { reason: 'The vendor is busy.', delayMs, counts: false });
    return true;
  }

  /** The vendor did not take this order. Whether it took an earlier one is still unknown, so the row must go on knowing of that. */
  private async startLater(task: ClaimedTask, retry: Retry): Promise<void> {
    await (task.start_intent_at ? this.parts.moves.retryLater(task, retry) : this.parts.moves.requeue(task, retry));
  }

  /** Checks what the order points at. Null: it broke a rule, and the task has been ended. */
  private async prepare(task: ClaimedTask, signal: AbortSignal): Promise<MediaOrder | null> {
    const family = catalogFamily(task.model);
    try {
      return {
        taskId: task.id,
        model: task.model,
        family: task.family,
        medium: task.medium,
        mode: task.mode,
        parameters: task.parameters,
        references: await withinLimit({ step: 'references', limitMs: LIMITS.references, signal }, (limited) =>
          this.parts.references.check(family, task, limited),
        ),
        output: family.output(task.parameters),
        attempt: task.failures + 1,
      };
    } catch (error) {
      if (!(error instanceof InvalidMedia) || task.start_intent_at) throw error;
      await this.parts.settlement.fail(task, 'invalid_media', error.message);
      return null;
    }
  }

  /**
   * An earlier attempt announced the call and then went silent, so the vendor may have the order. A vendor that can be
   * asked is asked, and only what it does not know after the time it needs to know is sent again; with any other vendor
   * nothing is sent again, and the deadline releases the customer's money.
   */
  private async resume(task: ClaimedTask, provider: MediaProvider, signal: AbortSignal): Promise<void> {
    const { moves } = this.parts;
    if (!provider.find) {
      log.warn('task.start_unknown', { taskId: task.id, provider: provider.id });
      await moves.awaitDeadline(task, 'The start was interrupted; the vendor cannot say whether it has the order.');
      return;
    }
    const waitMs =
      latestSendMs(task, provider) + (provider.findableAfterMs ?? FINDABLE_AFTER_MS) - task.claimed_at.getTime();
    try {
      const limit = { step: 'find', limitMs: LIMITS.find, signal } as const;
      const operation = await withinLimit(limit, async (limited) => provider.find?.(task.id, limited));
      if (operation) return await this.started(task, provider, storableOperation(operation));
    } catch (error) {
      // However long the vendor cannot be asked, the order is not sent again and the task is not given up before its time.
      if (!(error instanceof ProviderError)) throw error;
      const delayMs = waitMsOf(error.retryAfterMs) || backoffDelayMs(task.failures);
      await moves.retryLater(task, { reason: storableText(error.publicReason), delayMs, counts: false });
      return;
    }
    if (waitMs <= 0) {
      // The vendor does not have it, and nobody wants it any more.
      if (task.cancel_requested_at && (await this.parts.settlement.cancel(task.id, ['submitting']))) return;
      return this.startFresh(task, provider, signal);
    }
    const reason = 'The vendor does not know the order yet.';
    await moves.retryLater(task, { reason, delayMs: waitMs, counts: false });
  }

  private async started(task: ClaimedTask, provider: MediaProvider, operation: Operation): Promise<void> {
    const { moves, failpoints } = this.parts;
    if (await moves.setRunning(task, provider.id, operation, FIRST_POLL_MS)) {
      taskLog.started(task, provider.id, operation);
      failpoints.reach('after-running');
      return;
    }
    log.warn('upstream.orphaned', { taskId: task.id, provider: provider.id });
    const unwanted = await moves.recordOrphan(task.id, provider.id, operation);
    if (!unwanted || !provider.cancel) return;
    const limit = { step: 'cancel', limitMs: LIMITS.cancel } as const;
    const stopped = withinLimit(limit, async (limited) => provider.cancel?.(operation, limited));
    const outcome = await stopped.catch(() => 'too_late' as const);
    if (outcome === 'cancelled') await moves.resolveOrphan(task.id, operation);
  }

  /** A vendor that answers after all has taken the order: the task is told while it is still this attempt's, else it is work that nobody wants. */
  private awaitLate(task: ClaimedTask, provider: MediaProvider, late: Promise<unknown>): void {
    late
      .then((operation) => this.started(task, provider, storableOperation(operation as Operation)))
      .catch((error: unknown) => log.warn('upstream.start_failed_late', { taskId: task.id, error }));
  }

  /** A call that was given up may still be under way, so its end is not known. */
  private async recordEnd(task: ClaimedTask, error: unknown): Promise<void> {
    if (!(error instanceof StepAbandoned)) await this.parts.moves.recordStartEnd(task);
  }

  /** What was thrown decides: refused for good, may be tried again, or nobody knows. */
  private async startFailed(task: ClaimedTask, provider: MediaProvider, error: unknown): Promise<void> {
    const { moves, settlement, limits } = this.parts;
    const unforeseen = !(error instanceof ProviderError);
    // Harmless to repeat, so the task may be tried again as often as any, and is parked when that does not help.
    if (unforeseen && provider.repeatStart === 'idempotent') throw error;
    const failure = unforeseen ? new ProviderError('ambiguous', 'The call broke off.', { cause: error }) : error;
    const { kind } = failure;
    const reason = storableText(failure.publicReason);
    const retryAfterMs = waitMsOf(failure.retryAfterMs);
    // A vendor that is busy and names no time, or none that makes sense, is not asked again at once.
    const delayMs = retryAfterMs || backoffDelayMs(task.failures);
    log.warn('upstream.start_failed', { taskId: task.id, provider: provider.id, kind, reason, error: failure.cause });
    const busy = kind === 'retryable' && retryAfterMs !== undefined;
    if (busy) await limits.pause(provider.id, 'start', delayMs);
    if (busy || (kind === 'retryable' && task.failures + 1 < MAX_FAILURES)) {
      await this.startLater(task, { reason, delayMs, counts: !busy });
    } else if (kind !== 'ambiguous') {
      await settlement.fail(task, failure.code, reason);
    } else if (provider.repeatStart === 'unknown') {
      await moves.awaitDeadline(task, reason);
    } else {
      // A vendor that recognises a repeated order, or can be asked for it, gets another attempt; any other never does.
      await this.recordEnd(task, error);
      await moves.retryLater(task, { reason, delayMs, counts: false });
    }
  }
}

/** The last moment at which the earlier call can have reached the vendor, in Unix milliseconds of the database's clock. */
function latestSendMs({ start_intent_at: announced, start_ended_at: ended }: TaskRow, provider: MediaProvider): number {
  return ended ? ended.getTime() : (announced?.getTime() ?? 0) + startLimitMs(provider);
}
