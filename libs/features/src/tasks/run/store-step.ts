import { Inject, Injectable } from '@nestjs/common';
import type { OutputPlan, ProviderOutput } from '#contracts';
import {
  type CopiedFile,
  copyToStore,
  type FilePlace,
  inspectStoredFile,
  MediaStoreError,
  MediaUnreadable,
} from '#media';
import { FetchRefused, logger, RemoteStatus } from '#platform';
import { catalogFamily } from '../submit/catalog-family.js';
import type { ClaimedTask, TaskRow } from '../task-row.js';
import { MAX_FAILURES } from '../attempts.js';
import { backoffDelayMs } from '../backoff.js';
import { chargeFor, deliveredQuantity } from '../settle/charge.js';
import { deliveryNotices } from './delivery-notices.js';
import { type SettledFile, storeKeyOf, typeOfFile, WrongMedium } from './result-files.js';
import { keptFile } from '../../media-upstreams/result-spool.js';
import { bareTicket, notedCall } from '../../media-upstreams/vendor-call.js';
import { StepAbandoned, withinLimit } from './step-limit.js';
import { WorkerParts } from './worker-parts.js';
import { taskLog } from '../task-log.js';

const log = logger('generation');

/** What the statements of the step may take besides, in milliseconds. */
const STATEMENTS_MS = 30_000;

/** What our own store may be to blame for: full, away, or without what was just written. */
const OURS: ReadonlySet<MediaStoreError['code']> = new Set(['no_space', 'unavailable', 'not_found']);

type StoreStepParts = Pick<
  WorkerParts,
  'transitions' | 'settlement' | 'upstreams' | 'store' | 'fetcher' | 'failpoints' | 'storeLimits'
>;

/** Copies what the vendor made into our store, proves it readable, and settles the task. Safe to repeat: keys are fixed. */
@Injectable()
export class StoreStep {
  constructor(@Inject(WorkerParts) private readonly parts: StoreStepParts) {}

  /** The longest `run` may take, in milliseconds. */
  get limitMs(): number {
    return this.parts.storeLimits.stepMs + STATEMENTS_MS;
  }

  async run(task: ClaimedTask, signal: AbortSignal): Promise<void> {
    const plan = planOf(task);
    const outputs = withinOrder(plan, task.outputs ?? []);
    const delivered = outputs.filter(({ role }) => role === 'output').length;
    if (delivered === 0) {
      log.error('upstream.delivered_nothing', { taskId: task.id, provider: task.provider });
      const message = 'The vendor said that it was done but delivered no file; nothing was charged.';
      await this.parts.settlement.fail(task, 'upstream_error', message);
      return;
    }
    let files: SettledFile[];
    try {
      const limit = { step: 'store', limitMs: this.parts.storeLimits.stepMs, signal } as const;
      files = await withinLimit(limit, (limited) => this.copyFresh(task, outputs, limited));
    } catch (error) {
      if (signal.aborted) throw error;
      return this.copyFailed(task, error);
    }
    taskLog.stored(
      task,
      files.length,
      files.reduce((sum, { bytes }) => sum + bytes, 0),
    );
    await this.parts.settlement.complete(task, {
      chargeMicros: chargeFor(task, plan, delivered),
      quantity: deliveredQuantity(plan, delivered),
      files,
      resultTtlSeconds: catalogFamily(task.model).resultTtlSeconds,
      notices: deliveryNotices(plan, files),
    });
  }

  /** Links die while files wait for our store, and what is behind them was paid for: the vendor is asked for new ones. */
  private async copyFresh(
    task: TaskRow,
    outputs: readonly ProviderOutput[],
    signal: AbortSignal,
  ): Promise<SettledFile[]> {
    try {
      return await this.copyAll(task, outputs, signal);
    } catch (error) {
      const fresh = isDeadLink(error) ? await this.refreshed(task, signal) : undefined;
      // What is charged was decided by what was delivered first.
      if (fresh?.length !== outputs.length) throw error;
      return this.copyAll(task, fresh, signal);
    }
  }

  private async refreshed(task: TaskRow, signal: AbortSignal): Promise<readonly ProviderOutput[] | undefined> {
    const { id, provider, operation, ticket } = task;
    const upstream = this.parts.upstreams.byId(provider ?? '')?.upstream;
    if (!upstream?.refresh || operation === null) return undefined;
    const fresh = await upstream.refresh(operation, notedCall(signal, ticket ?? bareTicket(upstream, id)).call);
    return withinOrder(planOf(task), fresh);
  }

  private async copyAll(
    task: TaskRow,
    outputs: readonly ProviderOutput[],
    signal: AbortSignal,
  ): Promise<SettledFile[]> {
    const files: SettledFile[] = [];
    for (const [ordinal, output] of outputs.entries()) {
      files.push(await this.measured(output, ordinal, await this.copy(task, output, ordinal, signal), signal));
      this.parts.failpoints.reach('after-file-copied');
    }
    return files;
  }

  private async copy(
    { id, medium, provider: providerId, account_id: accountId }: TaskRow,
    output: ProviderOutput,
    ordinal: number,
    signal: AbortSignal,
  ): Promise<CopiedFile> {
    const kept = keptFile(output, id, ordinal);
    if (kept) return kept;
    const { store, fetcher, upstreams, storeLimits: limits } = this.parts;
    // An upstream that left the configuration may still have links that anybody can fetch.
    const upstream = upstreams.byId(providerId ?? '')?.upstream;
    const source = upstream?.open
      ? await upstream.open(output, { signal })
      : { fetcher, url: output.url, timeoutMs: limits.downloadMs, accountId };
    const place = (beginning: Buffer): FilePlace => {
      const contentType = typeOfFile(output.role === 'last_frame' ? 'image' : medium, beginning);
      return { key: storeKeyOf(id, ordinal, contentType), contentType };
    };
    return copyToStore(source, { store, place, maxBytes: limits.maxBytes, signal });
  }

  /** Reads the header back from the store, so that a file nobody can open never counts as delivered. */
  private async measured(
    output: ProviderOutput,
    ordinal: number,
    file: CopiedFile,
    signal: AbortSignal,
  ): Promise<SettledFile> {
    const header = await inspectStoredFile(this.parts.store, file, signal);
    return {
      ordinal,
      role: output.role,
      storeKey: file.key,
      contentType: file.contentType,
      bytes: file.bytes,
      sha256: file.sha256,
      width: header.medium === 'audio' ? null : header.width,
      height: header.medium === 'audio' ? null : header.height,
      durationMs: header.medium === 'image' ? null : Math.round(header.durationSeconds * 1000),
    };
  }

  /**
   * A store that is full, away, or has lost what was just written is our failure: the work is paid for at the vendor, so
   * it is tried until the deadline. Anything else a few times.
   */
  private async copyFailed(task: TaskRow, error: unknown): Promise<void> {
    const { transitions, settlement } = this.parts;
    const ours = (error instanceof MediaStoreError && OURS.has(error.code)) || isTimeUp(error);
    const reason = error instanceof Error ? error.message : String(error);
    log.warn('task.copy_failed', {
      taskId: task.id,
      upstream: task.provider ?? undefined,
      attempt: task.attempt,
      reason,
      error,
    });
    if (ours || task.failures + 1 < MAX_FAILURES) {
      await transitions.retryLater(task, { reason, delayMs: backoffDelayMs(Math.min(task.failures, 4)), counts: true });
    } else if (isOfVendor(error)) {
      const message = 'The vendor delivered no file that can be read; nothing was charged.';
      await settlement.fail(task, 'upstream_error', message);
    } else {
      await settlement.fail(task, 'storage_failed', 'The finished files could not be stored; nothing was charged.');
    }
  }
}

const planOf = ({ model, parameters }: TaskRow): OutputPlan => catalogFamily(model).output(parameters);

/** No more files than were ordered, however many a vendor names: each would be fetched, stored and handed on. */
function withinOrder(plan: OutputPlan, outputs: readonly ProviderOutput[]): readonly ProviderOutput[] {
  const most = { output: plan.count, last_frame: plan.medium === 'video' && plan.lastFrame ? plan.count : 0 };
  const taken = { output: 0, last_frame: 0 };
  return outputs.filter(({ role }) => (taken[role] += 1) <= most[role]);
}

/** What hosts say of a signed link whose time is over, or of a file that moved; some show a page instead. */
const DEAD: ReadonlySet<number> = new Set([401, 403, 404, 410]);
const isDeadLink = (error: unknown): boolean =>
  error instanceof RemoteStatus ? DEAD.has(error.status) : error instanceof WrongMedium;

/** What stands behind the link is no such file, or nothing that may be fetched: our store has no part in it. */
const isOfVendor = (error: unknown): boolean =>
  [FetchRefused, MediaUnreadable, RemoteStatus, WrongMedium].some((kind) => error instanceof kind);

/** A store that hangs is one that is away. */
const isTimeUp = (error: unknown): boolean =>
  error instanceof StepAbandoned || (error instanceof Error && error.name === 'TimeoutError');
