import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { MediaFailure, type OutputPlan, type UpstreamOutput } from '#contracts';
import {
  type CopiedFile,
  copyToStore,
  type FilePlace,
  inspectStoredFile,
  type MediaStore,
  MediaStoreError,
  MediaUnreadable,
} from '#media';
import { FetchFailed, FetchRefused, logger, mayPass, RemoteStatus, SafeFetcher, signals } from '#platform';
import { FAILPOINTS, type Failpoints, MEDIA_STORE } from '#runtime';
import { MediaUpstreams } from '../../upstreams/media-upstreams.js';
import { MediaCircuits } from '../../upstreams/upstream-circuits.js';
import { backoffDelayMs, type ClaimedTask, MAX_FAILURES, type TaskRow } from '../task-row.js';
import { STORE_LIMITS } from '../injection-tokens.js';
import { chargeFor, deliveredQuantity, deliveryNotices } from '../settle/charge.js';
import { SettleTaskService } from '../settle/settle-task.service.js';
import { StepAbandoned, withinLimit } from '../step-limit.js';
import { catalogFamily } from '../submit/planned-order.js';
import { taskLog } from '../task-log.js';
import { TaskTransitions } from '../task-transitions.js';
import { bareTicket, notedCall } from '../vendor-call.js';
import {
  LARGEST_INTEGER,
  leftoverFiles,
  type SettledFile,
  spooledFile,
  storeKeyOf,
  type StoreLimits,
  typeOfFile,
  WrongMedium,
} from './result-files.js';

const log = logger('generation');

/** What came of copying the files of a task. */
interface CopiedResults {
  readonly files: readonly SettledFile[];
  /** Why the others were not copied, by their place among the outputs. */
  readonly failures: ReadonlyMap<number, unknown>;
  /** The vendor may name new links to files whose links are dead. */
  readonly isRenewable?: boolean;
}

type Outputs = readonly (readonly [ordinal: number, output: UpstreamOutput])[];

/** A number of a header, which may state anything, as its column takes it; null: it is none. */
const cutToColumn = (stated: number): number | null =>
  Number.isNaN(stated) ? null : Math.max(0, Math.min(Math.round(stated), LARGEST_INTEGER));

const byOrdinal = (first: SettledFile, second: SettledFile): number => first.ordinal - second.ordinal;

/** What our own store may be to blame for: full, away, or without what was just written. */
const OURS: ReadonlySet<MediaStoreError['code']> = new Set(['no_space', 'unavailable', 'not_found']);

/** Our store is to blame, and not what the vendor delivered. A store that hangs is one that is away. */
const isOurs = (error: unknown): boolean =>
  (error instanceof MediaStoreError && OURS.has(error.code)) ||
  error instanceof StepAbandoned ||
  (error instanceof Error && error.name === 'TimeoutError');

/** A host that is away at present, or a vendor that does not let us in at present: what was made and paid for is still there. */
const mayComeBack = (error: unknown): boolean =>
  mayPass(error) || (error instanceof MediaFailure && error.kind !== 'refused');

/** Hosts refuse a signed link whose time is over, or a file that moved, with every status there is. */
const isRefusedLink = (error: unknown): boolean => error instanceof RemoteStatus && !mayPass(error);
/** Some show a page instead. */
const isDeadLink = (error: unknown): boolean => isRefusedLink(error) || error instanceof WrongMedium;

/** What the statements of the step may take besides, in milliseconds. */
const STATEMENTS_MS = 30_000;

/** Beyond so many failures the wait for the next attempt does not grow. */
const LONGEST_BACKOFF = 4;
/** How long before its deadline a task must be settled with what was delivered by then, in milliseconds. */
const SETTLE_BEFORE_MS = 10_000;

/** Copies what the vendor made into our store, proves it readable, and settles the task. Safe to repeat: keys are fixed. */
@Injectable()
export class StoreStep {
  constructor(
    private readonly upstreams: MediaUpstreams,
    private readonly circuits: MediaCircuits,
    private readonly transitions: TaskTransitions,
    private readonly settlement: SettleTaskService,
    private readonly fetcher: SafeFetcher,
    @Inject(MEDIA_STORE) private readonly store: MediaStore,
    @Inject(STORE_LIMITS) private readonly storeLimits: StoreLimits,
    @Inject(FAILPOINTS) private readonly failpoints: Failpoints,
  ) {}

  /** The longest `run` may take, in milliseconds. */
  get limitMs(): number {
    return this.storeLimits.stepMs + STATEMENTS_MS;
  }

  async run(task: ClaimedTask, signal: AbortSignal): Promise<void> {
    const outputs = withinOrder(planOf(task), task.outputs ?? []);
    if (!outputs.some(isResult)) {
      log.error('upstream.delivered_nothing', { taskId: task.id, upstream: task.upstream_id });
      const message = 'The vendor said that it was done but delivered no file; nothing was charged.';
      return this.failedByVendor(task, message);
    }
    const beganMs = performance.now();
    try {
      const limit = { step: 'store', limitMs: this.storeLimits.stepMs, signal } as const;
      const copied = await withinLimit(limit, (limited) => this.copy(task, outputs, limited));
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
   * Links die while files wait for our store, and what is behind them was paid for: the vendor is asked for new ones.
   *
   * @throws what our own store is to blame for, and the reason of `signal`.
   */
  private async copy(task: TaskRow, outputs: readonly UpstreamOutput[], signal: AbortSignal): Promise<CopiedResults> {
    const first = await this.copyEach(task, [...outputs.entries()], signal);
    if (![...first.failures.values()].some(isDeadLink)) return first;
    const fresh = await this.refreshed(task, signal);
    const isRenewable = fresh !== 'never';
    // What was delivered first decides which file is which.
    if (fresh === 'never' || fresh?.length !== outputs.length) return { ...first, isRenewable };
    const again = [...fresh.entries()].filter(([ordinal]) => first.failures.has(ordinal));
    const second = await this.copyEach(task, again, signal);
    return { files: [...first.files, ...second.files].toSorted(byOrdinal), failures: second.failures, isRenewable };
  }

  private async copyEach(task: TaskRow, outputs: Outputs, signal: AbortSignal): Promise<CopiedResults> {
    const files: SettledFile[] = [];
    const failures = new Map<number, unknown>();
    for (const [ordinal, output] of outputs) {
      try {
        files.push(await this.measured(output, ordinal, await this.copyOne(task, output, ordinal, signal), signal));
      } catch (error) {
        if (signal.aborted || isOurs(error)) throw error;
        failures.set(ordinal, error);
      }
      this.failpoints.reach('after-file-copied');
    }
    return { files, failures };
  }

  /** Undefined: the vendor does not tell now. `never`: it has no new links, or cannot be asked. */
  private async refreshed(
    task: TaskRow,
    signal: AbortSignal,
  ): Promise<readonly UpstreamOutput[] | 'never' | undefined> {
    const { id, upstream_id: upstreamId, operation, ticket } = task;
    const upstream = this.upstreams.byId(upstreamId ?? '')?.upstream;
    if (!upstream?.refresh || operation === null) return 'never';
    try {
      const { call } = notedCall(signal, ticket ?? bareTicket(upstream, id));
      return withinOrder(planOf(task), await upstream.refresh(operation, call));
    } catch (error) {
      signal.throwIfAborted();
      log.warn('upstream.refresh_failed', { taskId: id, upstream: upstream.id, error });
      return error instanceof MediaFailure && error.kind === 'refused' ? 'never' : undefined;
    }
  }

  private async copyOne(
    { id, medium, upstream_id: upstreamId, account_id: accountId }: TaskRow,
    output: UpstreamOutput,
    ordinal: number,
    signal: AbortSignal,
  ): Promise<CopiedFile> {
    const kept = spooledFile(output, id, ordinal);
    if (kept) return kept;
    const { store, fetcher, upstreams, storeLimits: limits } = this;
    // An upstream that left the configuration may still have links that anybody can fetch.
    const upstream = upstreams.byId(upstreamId ?? '')?.upstream;
    const opened = (await upstream?.open?.(output, { signal })) ?? { url: output.url };
    const source =
      opened instanceof Readable ? opened : { ...opened, fetcher, timeoutMs: limits.downloadMs, accountId };
    const place = (beginning: Buffer): FilePlace => {
      const contentType = typeOfFile(output.role === 'last_frame' ? 'image' : medium, beginning);
      return { key: storeKeyOf(id, ordinal, contentType), contentType };
    };
    return copyToStore(source, { store, place, maxBytes: limits.maxBytes, signal });
  }

  /** Reads the header back from the store, so that a file that cannot be opened never counts as delivered. */
  private async measured(
    output: UpstreamOutput,
    ordinal: number,
    file: CopiedFile,
    signal: AbortSignal,
  ): Promise<SettledFile> {
    const header = await inspectStoredFile(this.store, file, signal);
    return {
      ordinal,
      role: output.role,
      storeKey: file.key,
      contentType: file.contentType,
      bytes: file.bytes,
      sha256: file.sha256,
      width: header.medium === 'audio' ? null : cutToColumn(header.width),
      height: header.medium === 'audio' ? null : cutToColumn(header.height),
      durationMs: header.medium === 'image' ? null : cutToColumn(header.durationSeconds * 1000),
    };
  }

  /**
   * Files are missing. They are tried again: a few times, or until the deadline where only their host or the vendor is away, or a
   * link is dead and the vendor may name another. Then those that were delivered are handed over and charged.
   */
  private async incomplete(
    task: ClaimedTask,
    outputs: readonly UpstreamOutput[],
    { files, failures, isRenewable = false }: CopiedResults,
    tookMs: number,
  ): Promise<void> {
    const [error] = failures.values();
    const delayMs = backoffDelayMs(Math.min(task.failures, LONGEST_BACKOFF));
    const leftMs = task.deadline_at.getTime() - task.claimed_at.getTime() - tookMs;
    const isStillThere = (one: unknown) => mayComeBack(one) || (isRenewable && isRefusedLink(one));
    const isWorthAnother = [...failures.values()].every(isStillThere) || task.failures + 1 < MAX_FAILURES;
    if (isWorthAnother && leftMs > delayMs + tookMs + SETTLE_BEFORE_MS) return this.later(task, error, delayMs);
    const upstream = task.upstream_id ?? undefined;
    log.error('task.copy_given_up', { taskId: task.id, upstream, missing: failures.size, reason: reasonOf(error) });
    signals.mediaOrders.inc({ upstream: upstream ?? '', outcome: 'result_lost' });
    if (!files.some(isResult)) return this.giveUp(task, error);
    await this.removeParts(task, outputs, failures);
    await this.settle(task, files);
  }

  /** Of a file that could not be read after all, or was not copied whole, something may lie in the store. */
  private async removeParts(
    { id }: TaskRow,
    outputs: readonly UpstreamOutput[],
    failures: CopiedResults['failures'],
  ): Promise<void> {
    const parts = leftoverFiles(id, outputs, ([ordinal]) => failures.has(ordinal));
    await Promise.all(parts.map(({ storeKey }) => this.store.delete(storeKey)));
  }

  private async settle(task: ClaimedTask, files: readonly SettledFile[]): Promise<void> {
    const plan = planOf(task);
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    taskLog.stored(task, files.length, bytes);
    const routed = this.upstreams.byId(task.upstream_id ?? '');
    if (routed) this.circuits.recordDelivery(routed, orderOf(task));
    await this.settlement.complete(task, {
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
      upstream: task.upstream_id ?? undefined,
      attempt: task.attempt,
      reason,
      error,
    });
    await this.transitions.retryLater(task, { reason, delayMs, counts: true });
  }

  private async failedByVendor(task: ClaimedTask, message: string): Promise<void> {
    await this.settlement.fail(task, 'upstream_error', message);
    const routed = this.upstreams.byId(task.upstream_id ?? '');
    if (routed) this.circuits.recordFailedWork(routed, orderOf(task));
  }

  private async giveUp(task: ClaimedTask, error: unknown): Promise<void> {
    const { settlement } = this;
    if (isOfVendor(error)) {
      await this.failedByVendor(task, 'The vendor delivered no file that can be read; nothing was charged.');
    } else {
      await settlement.fail(task, 'storage_failed', 'The finished files could not be stored; nothing was charged.');
    }
  }
}

const orderOf = ({ model, account_id: accountId }: TaskRow) => ({ model, accountId });
const isResult = ({ role }: { readonly role: UpstreamOutput['role'] }): boolean => role === 'output';
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const planOf = ({ model, parameters }: TaskRow): OutputPlan => catalogFamily(model).output(parameters);

/** No more files than were ordered, however many a vendor names: each would be fetched, stored and handed on. */
function withinOrder(plan: OutputPlan, outputs: readonly UpstreamOutput[]): readonly UpstreamOutput[] {
  const most = { output: plan.count, last_frame: plan.medium === 'video' && plan.lastFrame ? plan.count : 0 };
  const taken = { output: 0, last_frame: 0 };
  return outputs.filter(({ role }) => (taken[role] += 1) <= most[role]);
}

/** What stands behind the link is no such file, or cannot be fetched: our store has no part in it. */
const isOfVendor = (error: unknown): boolean =>
  [FetchFailed, FetchRefused, MediaFailure, MediaUnreadable, RemoteStatus, WrongMedium].some(
    (kind) => error instanceof kind,
  );
