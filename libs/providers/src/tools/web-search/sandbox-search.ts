import type { FoundPage } from '#contracts';
import type { WebSearch } from './web-search.js';

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
