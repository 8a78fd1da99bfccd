import type { FoundPage, JsonObject } from '#contracts';
import { EngineHttp, objectsOf, plain, title, webUrl } from './engine-http.js';
import type { WebQuery, WebSearch, WebSearchEngineName } from './web-search.js';

/** An engine as an operator sets it. */
export interface EngineSettings {
  readonly engine: WebSearchEngineName;
  /** The engine's own address when it is left out, of those that have one. */
  readonly url?: string | undefined;
  readonly key?: string | undefined;
}

/** An engine with its connections. */
export interface OpenWebSearch extends WebSearch {
  close(): Promise<void>;
}

type Search = (
  http: EngineHttp,
  settings: EngineSettings,
  query: WebQuery,
  signal: AbortSignal,
) => Promise<FoundPage[]>;

const under = (base: string, path: string): URL => new URL(`${base.replace(/\/$/, '')}${path}`);

/** Operators of search engines; every engine here understands them in the words of a query. */
const withDomains = ({ query, allowedDomains, blockedDomains }: WebQuery): string => {
  const only = allowedDomains.map((domain) => `site:${domain}`).join(' OR ');
  const without = blockedDomains.map((domain) => `-site:${domain}`).join(' ');
  return [query, only, without].filter((words) => words !== '').join(' ');
};

function page(found: JsonObject, text: unknown, age: unknown): FoundPage[] {
  const url = webUrl(found['url']);
  if (url === undefined) return [];
  return [{ url, title: title(found['title']) || url, text: plain(text), ...(typeof age === 'string' && { age }) }];
}

/** `GET /search?format=json` of a SearXNG of one's own, whose settings must list the format `json`. */
const searxng: Search = async (http, { url = '' }, query, signal) => {
  const address = under(url, '/search');
  address.searchParams.set('q', withDomains(query));
  address.searchParams.set('format', 'json');
  const reply = await http.ask({ method: 'GET', url: address }, signal);
  return objectsOf(reply['results']).flatMap((found) => page(found, found['content'], found['publishedDate']));
};

const BRAVE = 'https://api.search.brave.com/res/v1';
const BRAVE_MOST = 20;

/** `GET /web/search` of Brave's search interface, the key in `X-Subscription-Token`. */
const brave: Search = async (http, { url = BRAVE, key = '' }, query, signal) => {
  const address = under(url, '/web/search');
  address.searchParams.set('q', withDomains(query));
  address.searchParams.set('count', String(Math.min(BRAVE_MOST, query.limit)));
  address.searchParams.set('text_decorations', 'false');
  const reply = await http.ask({ method: 'GET', url: address, headers: { 'x-subscription-token': key } }, signal);
  const web = reply['web'] as JsonObject | undefined;
  return objectsOf(web?.['results']).flatMap((found) =>
    page(found, [found['description'], ...snippets(found)].filter(Boolean).join('\n'), found['age']),
  );
};

const snippets = ({ extra_snippets: more }: JsonObject): readonly unknown[] => (Array.isArray(more) ? more : []);

const TAVILY = 'https://api.tavily.com';
const TAVILY_MOST = 20;

/** `POST /search` of Tavily, the key as a bearer token. */
const tavily: Search = async (http, { url = TAVILY, key = '' }, query, signal) => {
  const body = {
    query: query.query,
    max_results: Math.min(TAVILY_MOST, query.limit),
    ...(query.allowedDomains.length > 0 && { include_domains: [...query.allowedDomains] }),
    ...(query.blockedDomains.length > 0 && { exclude_domains: [...query.blockedDomains] }),
  };
  const headers = { authorization: `Bearer ${key}` };
  const reply = await http.ask({ method: 'POST', url: under(url, '/search'), headers, body }, signal);
  return objectsOf(reply['results']).flatMap((found) => page(found, found['content'], found['published_date']));
};

const SEARCHES: Readonly<Record<WebSearchEngineName, Search>> = { searxng, brave, tavily };

/** Opens an engine; it is connected to when it is first asked. */
export function openWebSearch(settings: EngineSettings): OpenWebSearch {
  const http = new EngineHttp();
  return {
    search: async (query, signal) => {
      const found = await SEARCHES[settings.engine](http, settings, query, signal);
      return found.filter(({ url }) => isWanted(new URL(url).hostname, query)).slice(0, query.limit);
    },
    close: () => http.close(),
  };
}

const isOf = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`);

/** Engines take domains for advice. */
const isWanted = (host: string, { allowedDomains, blockedDomains }: WebQuery): boolean =>
  (allowedDomains.length === 0 || allowedDomains.some((domain) => isOf(host, domain))) &&
  !blockedDomains.some((domain) => isOf(host, domain));
