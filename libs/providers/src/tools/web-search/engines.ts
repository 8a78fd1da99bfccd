import { Agent, request } from 'undici';
import { excerpt, type FoundPage, isJsonObject, isParsableUrl, type JsonObject } from '#contracts';
import { abortAfter, parseBounded } from '#platform';
import { type WebQuery, type WebSearch, type WebSearchEngineName, WebSearchFailure } from './web-search.js';

interface EngineSettings {
  readonly engine: WebSearchEngineName;
  /** The engine's own address when it is left out, of those that have one. */
  readonly url?: string | undefined;
  readonly key?: string | undefined;
}

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

const SEARCH_MS = 15_000;
const MAX_REPLY_BYTES = 4 * 1024 * 1024;

interface EngineCall {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
}

/** Asks an engine at the address that the operator set. It may be private, because no caller chose it. */
class EngineHttp {
  private readonly agent = new Agent({ connections: 32, headersTimeout: SEARCH_MS, bodyTimeout: SEARCH_MS });

  /** @throws WebSearchFailure for anything but a JSON object; what `signal` throws when it is aborted. */
  async ask({ method, url, headers, body }: EngineCall, signal: AbortSignal): Promise<JsonObject> {
    try {
      const reply = await request(url, {
        method,
        dispatcher: this.agent,
        signal: abortAfter(SEARCH_MS, signal),
        headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }), ...headers },
        body: body ? JSON.stringify(body) : null,
      });
      const text = await boundedText(reply.body);
      if (reply.statusCode !== 200)
        throw new WebSearchFailure(`the search engine answered with HTTP status ${reply.statusCode}`);
      return parsed(text);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof WebSearchFailure) throw error;
      throw new WebSearchFailure('the search engine did not answer', { cause: error });
    }
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }
}

async function boundedText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_REPLY_BYTES) throw new WebSearchFailure('the search engine answered with more than is read');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): JsonObject {
  try {
    const value: unknown = parseBounded(text);
    if (isJsonObject(value)) return value as JsonObject;
  } catch {
    // Said below.
  }
  throw new WebSearchFailure('the search engine answered with something that is not a JSON object');
}

const LONGEST_TITLE = 300;
const LONGEST_TEXT = 4_000;

/** A field as plain text: engines mark what was found with elements of HTML. */
const plain = (value: unknown, longest = LONGEST_TEXT): string =>
  excerpt(typeof value === 'string' ? value.replaceAll(/<\/?(strong|b|em|mark)>/gi, '') : '', longest);

const title = (value: unknown): string => plain(value, LONGEST_TITLE);

/** The objects of a list; anything else is none. */
const objectsOf = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? (value as unknown[]).filter((entry): entry is JsonObject => isJsonObject(entry)) : [];

/** A web address as it is, or nothing: what an engine calls an address may be anything. */
function webUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || !isParsableUrl(value)) return undefined;
  return /^https?:$/.test(new URL(value).protocol) ? value : undefined;
}
