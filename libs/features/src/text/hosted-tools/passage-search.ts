import type { FoundPassage, RankWeights, SearchFilter } from '#contracts';

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
  readonly weights?: RankWeights | undefined;
  /** The payer for the vector of the query, where one is made, and the id it is billed under. */
  readonly payer: { readonly apiKeyId: string; readonly requestId: string };
}

/** What searches uploaded files. */
export interface PassageSearch {
  /** The nearest passages, best first. */
  search(query: PassageQuery, signal: AbortSignal): Promise<readonly FoundPassage[]>;
  /** @throws GatewayError `not_found` naming a vector store that the account does not have, at `param`. */
  expectStores(accountId: string, stores: readonly string[], param: string): Promise<void>;
}
