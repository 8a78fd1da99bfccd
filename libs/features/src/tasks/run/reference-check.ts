import type { MeasuredReference, ModelFamily } from '#contracts';
import { checkReferences } from '#media';
import type { SafeFetcher } from '#platform';
import type { TaskRow } from '../task-row.js';

/** Looks at the files a request points at, before any vendor sees the order. */
export class ReferenceCheck {
  constructor(
    private readonly fetcher: SafeFetcher,
    /** The longest look at one file, in milliseconds. */
    private readonly fileTimeoutMs: number,
  ) {}

  /** @throws InvalidMedia naming the file and the rule it broke. */
  check(
    family: ModelFamily,
    { account_id: accountId, parameters }: Pick<TaskRow, 'account_id' | 'parameters'>,
    signal: AbortSignal,
  ): Promise<MeasuredReference[]> {
    return checkReferences(family.references(parameters), family.totalSeconds(parameters), {
      fetcher: this.fetcher,
      timeoutMs: this.fileTimeoutMs,
      signal,
      accountId,
    });
  }
}
