import { Readable } from 'node:stream';
import { MediaFailure, type ProviderOutput } from '#contracts';
import { type CopiedFile, copyToStore, type FilePlace, inspectStoredFile, MediaStoreError } from '#media';
import { logger, mayPass, RemoteStatus } from '#platform';
import { spooledFile } from '../../media-upstreams/result-spool.js';
import { bareTicket, notedCall } from '../../media-upstreams/vendor-call.js';
import type { TaskRow } from '../task-row.js';
import {
  LARGEST_INTEGER,
  type SettledFile,
  storeKeyOf,
  typeOfFile,
  WrongMedium,
} from '../../media-upstreams/result-files.js';
import { StepAbandoned } from './step-limit.js';
import type { WorkerParts } from './worker-parts.js';

const log = logger('generation');

/** What came of copying the files of a task. */
export interface CopiedResults {
  readonly files: readonly SettledFile[];
  /** Why the others were not copied, by their place among the outputs. */
  readonly failures: ReadonlyMap<number, unknown>;
  /** The vendor may name new links to files whose links are dead. */
  readonly isRenewable?: boolean;
}

type Outputs = readonly (readonly [ordinal: number, output: ProviderOutput])[];

/** Copies what a vendor made into our store and proves it readable, each file whatever becomes of the others. */
export class ResultCopies {
  constructor(
    private readonly parts: Pick<WorkerParts, 'upstreams' | 'store' | 'fetcher' | 'failpoints' | 'storeLimits'>,
    /** The outputs that belong to the order, of all that its vendor names. */
    private readonly ordered: (task: TaskRow, outputs: readonly ProviderOutput[]) => readonly ProviderOutput[],
  ) {}

  /**
   * Links die while files wait for our store, and what is behind them was paid for: the vendor is asked for new ones.
   *
   * @throws what our own store is to blame for, and the reason of `signal`.
   */
  async copy(task: TaskRow, outputs: readonly ProviderOutput[], signal: AbortSignal): Promise<CopiedResults> {
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
      this.parts.failpoints.reach('after-file-copied');
    }
    return { files, failures };
  }

  /** Undefined: the vendor does not tell now. `never`: it has no new links, or cannot be asked. */
  private async refreshed(
    task: TaskRow,
    signal: AbortSignal,
  ): Promise<readonly ProviderOutput[] | 'never' | undefined> {
    const { id, provider, operation, ticket } = task;
    const upstream = this.parts.upstreams.byId(provider ?? '')?.upstream;
    if (!upstream?.refresh || operation === null) return 'never';
    try {
      const { call } = notedCall(signal, ticket ?? bareTicket(upstream, id));
      return this.ordered(task, await upstream.refresh(operation, call));
    } catch (error) {
      signal.throwIfAborted();
      log.warn('upstream.refresh_failed', { taskId: id, upstream: upstream.id, error });
      return error instanceof MediaFailure && error.kind === 'refused' ? 'never' : undefined;
    }
  }

  private async copyOne(
    { id, medium, provider: providerId, account_id: accountId }: TaskRow,
    output: ProviderOutput,
    ordinal: number,
    signal: AbortSignal,
  ): Promise<CopiedFile> {
    const kept = spooledFile(output, id, ordinal);
    if (kept) return kept;
    const { store, fetcher, upstreams, storeLimits: limits } = this.parts;
    // An upstream that left the configuration may still have links that anybody can fetch.
    const upstream = upstreams.byId(providerId ?? '')?.upstream;
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
      width: header.medium === 'audio' ? null : cutToColumn(header.width),
      height: header.medium === 'audio' ? null : cutToColumn(header.height),
      durationMs: header.medium === 'image' ? null : cutToColumn(header.durationSeconds * 1000),
    };
  }
}

/** A number of a header, which may state anything, as its column takes it; null: it is none. */
const cutToColumn = (stated: number): number | null =>
  Number.isNaN(stated) ? null : Math.max(0, Math.min(Math.round(stated), LARGEST_INTEGER));

const byOrdinal = (first: SettledFile, second: SettledFile): number => first.ordinal - second.ordinal;

/** What our own store may be to blame for: full, away, or without what was just written. */
const OURS: ReadonlySet<MediaStoreError['code']> = new Set(['no_space', 'unavailable', 'not_found']);

/** Our store is to blame, and not what the vendor delivered. A store that hangs is one that is away. */
export const isOurs = (error: unknown): boolean =>
  (error instanceof MediaStoreError && OURS.has(error.code)) ||
  error instanceof StepAbandoned ||
  (error instanceof Error && error.name === 'TimeoutError');

/** A host that is away at present, or a vendor that does not let us in at present: what was made and paid for is still there. */
export const mayComeBack = (error: unknown): boolean =>
  mayPass(error) || (error instanceof MediaFailure && error.kind !== 'refused');

/** Hosts refuse a signed link whose time is over, or a file that moved, with every status there is. */
export const isRefusedLink = (error: unknown): boolean => error instanceof RemoteStatus && !mayPass(error);
/** Some show a page instead. */
const isDeadLink = (error: unknown): boolean => isRefusedLink(error) || error instanceof WrongMedium;
