import type { MeasuredReference, MediaReference } from '#contracts';
import { checkReferences, FileMemory, isDataUri, measureReferences, type MediaStore } from '#media';
import type { SafeFetcher } from '#platform';
import { catalogFamily } from '../submit/planned-order.js';
import type { TaskRow } from '../task-row.js';

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
