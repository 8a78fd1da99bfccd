import type { MeasuredReference, ModelFamily } from '#contracts';
import { checkReferences, type MediaStore } from '#media';
import type { SafeFetcher } from '#platform';
import type { TaskRow } from '../task-row.js';

/** Checks the files a request refers to, before any vendor sees the order. */
export class ReferenceCheck {
  constructor(
    private readonly fetcher: SafeFetcher,
    /** The time limit for checking one file, in milliseconds. */
    private readonly fileTimeoutMs: number,
    private readonly store: MediaStore,
  ) {}

  /** @throws InvalidMedia naming the file and the rule it broke. */
  check(
    family: ModelFamily,
    { account_id: accountId, parameters }: Pick<TaskRow, 'account_id' | 'parameters'>,
    signal: AbortSignal,
  ): Promise<MeasuredReference[]> {
    return checkReferences(family.references(parameters), family.totalSeconds(parameters), {
      fetcher: this.fetcher,
      store: this.store,
      timeoutMs: this.fileTimeoutMs,
      signal,
      accountId,
    });
  }
}
