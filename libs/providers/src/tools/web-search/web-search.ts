import type { FoundPage } from '#contracts';

/** The engines there is an adapter for. */
export const WEB_SEARCH_ENGINES = ['searxng', 'brave', 'tavily'] as const;
export type WebSearchEngineName = (typeof WEB_SEARCH_ENGINES)[number];

/** One search. */
export interface WebQuery {
  readonly query: string;
  /** The most pages that are wanted. */
  readonly limit: number;
  /** Only pages of these domains and those below them; empty: any. */
  readonly allowedDomains: readonly string[];
  /** No pages of these. */
  readonly blockedDomains: readonly string[];
}

/** Something that searches the web. */
export interface WebSearch {
  /** @throws WebSearchFailure; what `signal` throws when it is aborted. */
  search(query: WebQuery, signal: AbortSignal): Promise<readonly FoundPage[]>;
}

/** What kept an engine from answering; the message may be shown to callers. */
export class WebSearchFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'WebSearchFailure';
  }
}
