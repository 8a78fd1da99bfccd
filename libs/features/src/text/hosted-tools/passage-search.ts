import type { FoundPassage, SearchFilter } from '#contracts';

/** One search of an account's files. */
export interface PassageQuery {
  readonly accountId: string;
  /** `default`: all files of the account. */
  readonly vectorStoreIds: readonly string[] | 'default';
  readonly query: string;
  readonly limit: number;
  /** Comparisons of attributes, in the form of the files interface. */
  readonly filters?: SearchFilter | undefined;
  /** 0 to 1. */
  readonly scoreThreshold?: number | undefined;
}

/** What searches uploaded files. */
export interface PassageSearch {
  /** The nearest passages, best first. */
  search(query: PassageQuery, signal: AbortSignal): Promise<readonly FoundPassage[]>;
}
