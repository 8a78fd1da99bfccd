import type { MeasuredReference, ModelFamily } from '#contracts';
import { checkReferences } from '#media';
import { type SafeFetcher } from '#platform';
import type { TaskRow } from '../task-row.js';

/** The longest look at one file, in milliseconds. */
const FILE_TIMEOUT_MS = 20_000;

/** Looks at the files a request points at, before any vendor sees the order. */
export class ReferenceCheck {
  constructor(private readonly fetcher: SafeFetcher) {}

  /** @throws InvalidMedia naming the file and the rule it broke. */
  check(
    family: ModelFamily,
    { account_id: accountId, parameters }: Pick<TaskRow, 'account_id' | 'parameters'>,
    signal: AbortSignal,
  ): Promise<MeasuredReference[]> {
    return checkReferences(family.references(parameters), family.totalSeconds(parameters), {
      fetcher: this.fetcher,
      timeoutMs: FILE_TIMEOUT_MS,
      signal,
      accountId,
    });
  }
}
