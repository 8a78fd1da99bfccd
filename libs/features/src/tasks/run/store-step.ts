import { Inject, Injectable } from '@nestjs/common';
import { MediaFailure, type OutputPlan, type ProviderOutput } from '#contracts';
import { MediaUnreadable } from '#media';
import { FetchFailed, FetchRefused, logger, RemoteStatus, signals } from '#platform';
import { LARGEST_INTEGER, leftoverFiles, type SettledFile, WrongMedium } from '../../media-upstreams/result-files.js';
import { MAX_FAILURES } from '../attempts.js';
import { backoffDelayMs } from '../backoff.js';
import { chargedSeconds, chargeFor, deliveredQuantity } from '../settle/charge.js';
import { catalogFamily } from '../submit/catalog-family.js';
import { taskLog } from '../task-log.js';
import type { ClaimedTask, TaskRow } from '../task-row.js';
import { type CopiedResults, isOurs, isRefusedLink, mayComeBack, ResultCopies } from './result-copies.js';
import { withinLimit } from './step-limit.js';
import { WorkerParts } from './worker-parts.js';

/** How much longer than ordered a video may be before its owner gets a notice, in seconds: encoders round up to a frame. */
const LONGER_SECONDS = 0.5;

/** The notices to the owner of a finished task whose result is not what was ordered. */
export function deliveryNotices(plan: OutputPlan, files: readonly SettledFile[]): string[] {
  const outputs = files.filter(({ role }) => role === 'output');
  const notices: string[] = [];
  if (outputs.length < plan.count)
    notices.push(`The vendor delivered ${outputs.length} of ${plan.count} files; the missing ones are not charged.`);
  if (plan.medium === 'video' && plan.lastFrame && !files.some(({ role }) => role === 'last_frame'))
    notices.push('The last frame was ordered, and the vendor did not deliver it.');
  if (plan.medium === 'video') notices.push(...lengthNotices(plan.durationSeconds, outputs));
  return notices;
}

/** About the longest video when it is longer than ordered, and about each that is so much shorter that less is charged. */
function lengthNotices(ordered: number, outputs: readonly SettledFile[]): string[] {
  const longestMs = Math.max(...outputs.map(({ durationMs }) => durationMs ?? 0));
  const isLonger = longestMs / 1000 > ordered + LONGER_SECONDS;
  const shorter = outputs.flatMap(({ durationMs }) => {
    const charged = chargedSeconds(ordered, durationMs);
    return charged < ordered && durationMs !== null ? [{ durationMs, charged }] : [];
  });
  if (longestMs === LARGEST_INTEGER)
    return [
      `The header of the video states a length of ${shown(longestMs)} s or more; ${ordered} s were ordered and are charged.`,
    ];
  return [
    ...(isLonger ? [`The video lasts ${shown(longestMs)} s; ${ordered} s were ordered and are charged.`] : []),
    ...shorter.map(
      ({ durationMs, charged }) =>
        `The video lasts ${shown(durationMs)} s; ${ordered} s were ordered and ${charged} s are charged.`,
    ),
  ];
}

const shown = (milliseconds: number): number => Math.round(milliseconds / 100) / 10;

const log = logger('generation');

/** What the statements of the step may take besides, in milliseconds. */
const STATEMENTS_MS = 30_000;

/** Beyond so many failures the wait for the next attempt does not grow. */
const LONGEST_BACKOFF = 4;
/** How long before its deadline a task must be settled with what was delivered by then, in milliseconds. */
const SETTLE_BEFORE_MS = 10_000;

type StoreStepParts = Pick<
  WorkerParts,
  'transitions' | 'settlement' | 'upstreams' | 'circuits' | 'store' | 'fetcher' | 'failpoints' | 'storeLimits'
>;

/** Copies what the vendor made into our store, proves it readable, and settles the task. Safe to repeat: keys are fixed. */
@Injectable()
export class StoreStep {
  private readonly copies: ResultCopies;

  constructor(@Inject(WorkerParts) private readonly parts: StoreStepParts) {
    this.copies = new ResultCopies(parts, (task, outputs) => withinOrder(planOf(task), outputs));
  }

  /** The longest `run` may take, in milliseconds. */
  get limitMs(): number {
    return this.parts.storeLimits.stepMs + STATEMENTS_MS;
  }

  async run(task: ClaimedTask, signal: AbortSignal): Promise<void> {
    const outputs = withinOrder(planOf(task), task.outputs ?? []);
    if (!outputs.some(isResult)) {
      log.error('upstream.delivered_nothing', { taskId: task.id, provider: task.provider });
      const message = 'The vendor said that it was done but delivered no file; nothing was charged.';
      return this.failedByVendor(task, message);
    }
    const beganMs = performance.now();
    try {
      const limit = { step: 'store', limitMs: this.parts.storeLimits.stepMs, signal } as const;
      const copied = await withinLimit(limit, (limited) => this.copies.copy(task, outputs, limited));
      const tookMs = performance.now() - beganMs;
      await (copied.failures.size > 0
        ? this.incomplete(task, outputs, copied, tookMs)
        : this.settle(task, copied.files));
    } catch (error) {
      if (signal.aborted || !isOurs(error)) throw error;
      // The work is paid for at the vendor, so it is tried until the deadline.
      await this.later(task, error, backoffDelayMs(Math.min(task.failures, LONGEST_BACKOFF)));
    }
  }

  /**
   * Files are missing. They are tried again: a few times, or until the deadline where only their host or the vendor is away, or a
   * link is dead and the vendor may name another. Then those that were delivered are handed over and charged.
   */
  private async incomplete(
    task: ClaimedTask,
    outputs: readonly ProviderOutput[],
    { files, failures, isRenewable = false }: CopiedResults,
    tookMs: number,
  ): Promise<void> {
    const [error] = failures.values();
    const delayMs = backoffDelayMs(Math.min(task.failures, LONGEST_BACKOFF));
    const leftMs = task.deadline_at.getTime() - task.claimed_at.getTime() - tookMs;
    const isStillThere = (one: unknown) => mayComeBack(one) || (isRenewable && isRefusedLink(one));
    const isWorthAnother = [...failures.values()].every(isStillThere) || task.failures + 1 < MAX_FAILURES;
    if (isWorthAnother && leftMs > delayMs + tookMs + SETTLE_BEFORE_MS) return this.later(task, error, delayMs);
    const upstream = task.provider ?? undefined;
    log.error('task.copy_given_up', { taskId: task.id, upstream, missing: failures.size, reason: reasonOf(error) });
    signals.mediaOrders.inc({ upstream: upstream ?? '', outcome: 'result_lost' });
    if (!files.some(isResult)) return this.giveUp(task, error);
    await this.removeParts(task, outputs, failures);
    await this.settle(task, files);
  }

  /** Of a file that could not be read after all, or was not copied whole, something may lie in the store. */
  private async removeParts(
    { id }: TaskRow,
    outputs: readonly ProviderOutput[],
    failures: CopiedResults['failures'],
  ): Promise<void> {
    const parts = leftoverFiles(id, outputs, ([ordinal]) => failures.has(ordinal));
    await Promise.all(parts.map(({ storeKey }) => this.parts.store.delete(storeKey)));
  }

  private async settle(task: ClaimedTask, files: readonly SettledFile[]): Promise<void> {
    const plan = planOf(task);
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    taskLog.stored(task, files.length, bytes);
    const routed = this.parts.upstreams.byId(task.provider ?? '');
    if (routed) this.parts.circuits.recordDelivery(routed, orderOf(task));
    await this.parts.settlement.complete(task, {
      chargeMicros: chargeFor(task, plan, files),
      quantity: deliveredQuantity(plan, files),
      files,
      resultTtlSeconds: catalogFamily(task.model).resultTtlSeconds,
      notices: deliveryNotices(plan, files),
    });
  }

  private async later(task: ClaimedTask, error: unknown, delayMs: number): Promise<void> {
    const reason = reasonOf(error);
    log.warn('task.copy_failed', {
      taskId: task.id,
      upstream: task.provider ?? undefined,
      attempt: task.attempt,
      reason,
      error,
    });
    await this.parts.transitions.retryLater(task, { reason, delayMs, counts: true });
  }

  private async failedByVendor(task: ClaimedTask, message: string): Promise<void> {
    await this.parts.settlement.fail(task, 'upstream_error', message);
    const routed = this.parts.upstreams.byId(task.provider ?? '');
    if (routed) this.parts.circuits.recordFailedWork(routed, orderOf(task));
  }

  private async giveUp(task: ClaimedTask, error: unknown): Promise<void> {
    const { settlement } = this.parts;
    if (isOfVendor(error)) {
      await this.failedByVendor(task, 'The vendor delivered no file that can be read; nothing was charged.');
    } else {
      await settlement.fail(task, 'storage_failed', 'The finished files could not be stored; nothing was charged.');
    }
  }
}

const orderOf = ({ model, account_id: accountId }: TaskRow) => ({ model, accountId });
const isResult = ({ role }: { readonly role: ProviderOutput['role'] }): boolean => role === 'output';
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const planOf = ({ model, parameters }: TaskRow): OutputPlan => catalogFamily(model).output(parameters);

/** No more files than were ordered, however many a vendor names: each would be fetched, stored and handed on. */
function withinOrder(plan: OutputPlan, outputs: readonly ProviderOutput[]): readonly ProviderOutput[] {
  const most = { output: plan.count, last_frame: plan.medium === 'video' && plan.lastFrame ? plan.count : 0 };
  const taken = { output: 0, last_frame: 0 };
  return outputs.filter(({ role }) => (taken[role] += 1) <= most[role]);
}

/** What stands behind the link is no such file, or cannot be fetched: our store has no part in it. */
const isOfVendor = (error: unknown): boolean =>
  [FetchFailed, FetchRefused, MediaFailure, MediaUnreadable, RemoteStatus, WrongMedium].some(
    (kind) => error instanceof kind,
  );
