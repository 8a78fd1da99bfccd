import type { Medium, ProviderOutput } from '#contracts';
import { copyToStore, inspectStoredFile, type MediaStore, MediaStoreError, type StoredFile } from '#media';
import { logger, type SafeFetcher } from '#platform';
import type { MediaProviderRegistry } from '#providers';
import { type Failpoints } from '#runtime';
import { catalogFamily } from '../submit/catalog-family.js';
import type { ClaimedTask, TaskRow } from '../task-row.js';
import { MAX_FAILURES } from '../attempts.js';
import { backoffDelayMs } from '../backoff.js';
import { chargeFor, deliveredQuantity } from '../settle/charge.js';
import { type SettledFile, storeKeyOf } from './result-files.js';
import type { SettleTaskService } from '../settle/settle-task.service.js';
import { StepAbandoned, withinLimit } from './step-limit.js';
import { taskLog } from '../task-log.js';
import type { TaskTransitions } from '../task-transitions.js';

const log = logger('generation');

/** The largest result that is accepted from a vendor, and the longest its transfer may take. */
const RESULT_LIMITS = { maxBytes: 2 * 1024 ** 3, timeoutMs: 10 * 60_000 } as const;

/** The longest one attempt at storing the files of a task may take, in milliseconds. */
const LIMIT_MS = { image: 90_000, video: RESULT_LIMITS.timeoutMs + 60_000 } as const satisfies Record<Medium, number>;
/** What the statements of the step may take besides, in milliseconds. */
const STATEMENTS_MS = 30_000;

/** What our own store may be to blame for: full, away, or without what was just written. */
const OURS: ReadonlySet<MediaStoreError['code']> = new Set(['no_space', 'unavailable', 'not_found']);

/** What the step works with. */
export interface StoreStepParts {
  readonly moves: TaskTransitions;
  readonly settlement: SettleTaskService;
  readonly providers: MediaProviderRegistry;
  readonly store: MediaStore;
  readonly fetcher: SafeFetcher;
  readonly failpoints: Failpoints;
}

/** Copies what the vendor made into our store, proves it readable, and settles the task. Safe to repeat: keys are fixed. */
export class StoreStep {
  constructor(
    private readonly parts: StoreStepParts,
    private readonly limits: Readonly<Record<Medium, number>> = LIMIT_MS,
  ) {}

  /** The longest `run` may take, in milliseconds. */
  limitMs({ medium }: TaskRow): number {
    return this.limits[medium] + STATEMENTS_MS;
  }

  async run(task: ClaimedTask, signal: AbortSignal): Promise<void> {
    const outputs = task.outputs ?? [];
    const delivered = outputs.filter(({ role }) => role === 'output').length;
    if (delivered === 0) {
      log.error('upstream.delivered_nothing', { taskId: task.id, provider: task.provider });
      const message = 'The vendor said that it was done but delivered no file; nothing was charged.';
      await this.parts.settlement.fail(task, 'upstream_error', message);
      return;
    }
    let files: SettledFile[];
    try {
      const limit = { step: 'store', limitMs: this.limits[task.medium], signal } as const;
      files = await withinLimit(limit, (limited) => this.copyAll(task, outputs, limited));
    } catch (error) {
      if (signal.aborted) throw error;
      return this.copyFailed(task, error);
    }
    taskLog.stored(
      task,
      files.length,
      files.reduce((sum, { bytes }) => sum + bytes, 0),
    );
    const family = catalogFamily(task.model);
    const plan = family.output(task.parameters);
    await this.parts.settlement.complete(task, {
      chargeMicros: chargeFor(task, plan, delivered),
      quantity: deliveredQuantity(plan, delivered),
      files,
      resultTtlSeconds: family.resultTtlSeconds,
    });
  }

  private async copyAll(
    task: TaskRow,
    outputs: readonly ProviderOutput[],
    signal: AbortSignal,
  ): Promise<SettledFile[]> {
    const files: SettledFile[] = [];
    for (const [ordinal, output] of outputs.entries()) {
      const key = storeKeyOf(task.id, ordinal, output);
      files.push(await this.measured(output, ordinal, await this.copy(task, output, key, signal), signal));
      this.parts.failpoints.reach('after-file-copied');
    }
    return files;
  }

  private async copy(
    { provider: providerId, account_id: accountId }: TaskRow,
    output: ProviderOutput,
    key: string,
    signal: AbortSignal,
  ): Promise<StoredFile> {
    const { store, fetcher, providers } = this.parts;
    const provider = providers.providerById(providerId ?? '');
    const { maxBytes, timeoutMs } = RESULT_LIMITS;
    const source = provider.open
      ? await provider.open(output, signal)
      : { fetcher, url: output.url, timeoutMs, accountId };
    return copyToStore(source, { store, key, contentType: output.contentType, maxBytes, signal });
  }

  /** Reads the header back from the store, so that a file nobody can open never counts as delivered. */
  private async measured(
    output: ProviderOutput,
    ordinal: number,
    file: StoredFile,
    signal: AbortSignal,
  ): Promise<SettledFile> {
    const header = await inspectStoredFile(this.parts.store, file, signal);
    return {
      ordinal,
      role: output.role,
      storeKey: file.key,
      contentType: output.contentType,
      bytes: file.bytes,
      sha256: file.sha256,
      width: header.medium === 'audio' ? null : header.width,
      height: header.medium === 'audio' ? null : header.height,
      durationMs: header.medium === 'image' ? null : Math.round(header.durationSeconds * 1000),
    };
  }

  /**
   * A store that is full, away, or has lost what was just written is ours to mend: the work is paid for at the vendor, so
   * it is tried until the deadline. Anything else a few times.
   */
  private async copyFailed(task: TaskRow, error: unknown): Promise<void> {
    const { moves, settlement } = this.parts;
    const ours = (error instanceof MediaStoreError && OURS.has(error.code)) || isTimeUp(error);
    log.warn('task.copy_failed', { taskId: task.id, attempt: task.attempt, error });
    if (ours || task.failures + 1 < MAX_FAILURES) {
      const reason = error instanceof Error ? error.message : String(error);
      await moves.retryLater(task, { reason, delayMs: backoffDelayMs(Math.min(task.failures, 4)), counts: true });
    } else {
      await settlement.fail(task, 'storage_failed', 'The finished files could not be stored; nothing was charged.');
    }
  }
}

/** A store that hangs is one that is away. */
const isTimeUp = (error: unknown): boolean =>
  error instanceof StepAbandoned || (error instanceof Error && error.name === 'TimeoutError');
