import type { FoundPage } from '#contracts';
import { NamedError } from '#platform';

export const WEB_SEARCH_ENGINES = ['searxng', 'brave', 'tavily'] as const;
export type WebSearchEngineName = (typeof WEB_SEARCH_ENGINES)[number];

export interface WebQuery {
  readonly query: string;
  readonly limit: number;
  /** Only pages of these domains and those below them; empty: any. */
  readonly allowedDomains: readonly string[];
  /** No pages of these. */
  readonly blockedDomains: readonly string[];
}

export interface WebSearch {
  /** @throws WebSearchFailure; what `signal` throws when it is aborted. */
  search(query: WebQuery, signal: AbortSignal): Promise<readonly FoundPage[]>;
}

/** What kept an engine from answering; the message may be shown to callers. */
export class WebSearchFailure extends NamedError {}

const PAGES = 3;

/** Searches no web: its pages say so, and are the same for the same words. For what the sandbox answers. */
export const sandboxSearch: WebSearch = {
  search: ({ query, limit, allowedDomains: [domain = 'example.com'] }) =>
    Promise.resolve(
      Array.from({ length: Math.min(PAGES, limit) }, (_, index): FoundPage => {
        const slug = encodeURIComponent(query.toLowerCase().slice(0, 60));
        return {
          url: `https://${domain}/sandbox/${index + 1}?q=${slug}`,
          title: `Sandbox page ${index + 1}`,
          text: `The sandbox, which does not search the web, made this page up for the words: ${query.slice(0, 200)}`,
        };
      }),
    ),
};
