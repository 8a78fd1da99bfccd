import type { JsonObject, MeasuredReference, ModelFamily } from '#contracts';
import { checkReferences, type SafeFetcher } from '#platform';

/** The longest look at one file, in milliseconds. */
const FILE_TIMEOUT_MS = 20_000;

/** Looks at the files a request points at, before any vendor sees the order. */
export class ReferenceCheck {
  constructor(private readonly fetcher: SafeFetcher) {}

  /** @throws InvalidMedia naming the file and the rule it broke. */
  check(family: ModelFamily, parameters: JsonObject, signal: AbortSignal): Promise<MeasuredReference[]> {
    return checkReferences(family.references(parameters), family.totalSeconds(parameters), {
      fetcher: this.fetcher,
      timeoutMs: FILE_TIMEOUT_MS,
      signal,
    });
  }
}
