import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import { Agent, type Dispatcher, request } from 'undici';
import { hasParsableHost } from '#contracts';
import { abortAfter, withinTime } from '../clock/time-limit.js';
import { NameResolver } from '../dns/name-resolver.js';
import { AddressPolicy, type AllowList, parseAllowList } from './address-policy.js';
import { acceptBody, discard, encodingOf, limitInterimResponses, readBeginning, redirectTarget } from './reply.js';
import {
  addressesOf,
  checkedConnector,
  hostAndPort,
  hostNameOf,
  isLocalName,
  type ResolveName,
  withoutBrackets,
} from './checked-connector.js';
import { asFetchError, FetchRefused } from './fetch-errors.js';

/** What is in front of the path as it was written: at least one character, up to a slash, a question mark or a hash. */
const WRITTEN_HOST = /^ *https?:\/\/([^/?#]+)/i;

/** Parsers drop some of these, end the URL at others, or split the request there. */
const CONTROL = /\p{Cc}/u;

/** Some parsers take it for a slash, others for a letter of a user name. */
const BACKSLASH = /^[^?#]*\\/;

/** `http://a.example?@10.0.0.1/`: a user name to parsers that look for the first slash. */
const LATE_USER = /^ *https?:\/\/[^/]*@/i;

const wrong = (message: string): FetchRefused => new FetchRefused('bad_url', message);

/**
 * Refuses a URL that another parser may read as one of another host: it is passed on as it was written, and who fetches it
 * may understand other rules than those of the WHATWG, by which it was checked.
 *
 * @param text as it was written.
 * @param url what it was read as, without user name and password.
 * @throws FetchRefused `bad_url`.
 */
function expectOneReading(text: string, { hostname }: URL): void {
  if (CONTROL.test(text)) throw wrong('a URL has no control characters');
  if (BACKSLASH.test(text)) throw wrong('a URL has no backslash');
  const written = WRITTEN_HOST.exec(text)?.[1];
  if (written === undefined) throw wrong('its host must follow http:// or https://');
  if (LATE_USER.test(text)) throw wrong('a slash must follow its host');
  if (hostname.split('.').slice(0, -1).includes('')) throw wrong('its host has an empty part between two dots');
  // 010.8.8.8 is 8.8.8.8 to one parser and 10.8.8.8 to the next.
  if (isIP(hostname) === 4 && written.replace(/:\d*$/, '') !== hostname)
    throw wrong(`the address of its host must be written as ${hostname}`);
}

/** Settings of a {@link SafeFetcher}; times in milliseconds. */
export interface SafeFetcherOptions {
  /** CIDR ranges and `host:port` entries that are let through although they are not public. Default none. */
  readonly allow?: readonly string[];
  /** Ports that may be dialled; `host:port` entries of the allow list are let through besides. Default 80 and 443. */
  readonly ports?: readonly number[] | 'any';
  /** Most redirects followed by `get`, each checked like the first address. Default 3. */
  readonly maxRedirects?: number;
  /** Longest time for one connection. Default 3000. */
  readonly connectTimeoutMs?: number;
  /** Longest silence before the answer and within it. Default 10000. */
  readonly silenceTimeoutMs?: number;
  /** Finds the addresses of host names; a {@link NameResolver} of its own unless one is shared. */
  readonly resolve?: ResolveName;
}

interface SafeGetOptions {
  /**
   * Whose call it is: look-ups of names and connections of one account never use up those of another. Calls without one
   * have a share together.
   */
  readonly accountId?: string | undefined;
  /** Longest time from the call to the last byte. */
  readonly timeoutMs: number;
  /** Most bytes of the body; a longer answer is refused with `too_large`. */
  readonly maxBytes: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers besides for the origin of the address alone: once a redirect of `get` leads elsewhere, they are sent no more. */
  readonly credentials?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** An answer whose body still flows. Read it to its end or destroy it. */
export interface SafeAnswer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: Readable;
  /** Where the answer came from, after redirects. */
  readonly url: string;
}

interface SafePostOptions {
  /** Whose call it is, as with a GET. */
  readonly accountId?: string | undefined;
  readonly body: string | Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** Longest time from the call to the last byte that is read. */
  readonly timeoutMs: number;
  /** How much of the answer is read; the rest is left unread. */
  readonly maxReplyBytes: number;
  /** How long the body of an answer is waited for; what came by then counts. Default: as long as for the whole. */
  readonly replyTimeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Body and bounds of a call whose answer flows. */
interface SafeSendOptions extends SafeGetOptions {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly body?: string | Buffer | undefined;
  /** Longest silence before the answer and within it. Default: as for every call. */
  readonly silenceMs?: number;
}

interface SafePostAnswer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: Buffer;
}

/** The longest name that has an address (RFC 1035), in its ASCII form. */
const HOST_CHARACTERS_MAX = 253;
const hostTooLong = (): FetchRefused =>
  new FetchRefused('bad_url', `its host may have at most ${HOST_CHARACTERS_MAX} characters, written in ASCII`);
const DEFAULT_PORTS = [80, 443];
const USER_AGENT = 'generation-gateway/1';

/** How many accounts have connections of their own at once, and how long unused ones are kept, in milliseconds. */
const ACCOUNTS_MAX = 500;
const ACCOUNT_IDLE_MS = 60_000;

/**
 * HTTP client for addresses that users and vendors give us. It reaches only public addresses (and what operators allow),
 * on every hop, and dials exactly the addresses it checked. One instance serves the whole process.
 */
export class SafeFetcher {
  /** Connections by account. One that is forgotten ends when its calls are over. */
  private readonly agents: LRUCache<string, Agent>;
  private readonly open = new Set<Agent>();
  private readonly policy: AddressPolicy;
  private readonly allow: AllowList;
  private readonly resolve: ResolveName;

  /** @throws RangeError when an entry of the allow list is neither a CIDR range nor `host:port`. */
  constructor(private readonly options: SafeFetcherOptions = {}) {
    const names = new NameResolver();
    this.resolve = options.resolve ?? ((host, share) => names.resolve(host, share));
    this.allow = parseAllowList(options.allow ?? []);
    this.policy = new AddressPolicy(this.allow.ranges);
    this.agents = new LRUCache({
      max: ACCOUNTS_MAX,
      ttl: ACCOUNT_IDLE_MS,
      ttlAutopurge: true,
      updateAgeOnGet: true,
      dispose: (agent) => void agent.close().finally(() => this.open.delete(agent)),
    });
  }

  /**
   * Refuses an address before anything is sent: only http and https, no credentials, a permitted port, no literal
   * address that is not public, nothing that another parser may read as another host. Names are judged when they are resolved, by `get` and `post`.
   *
   * @throws FetchRefused
   */
  checkUrl(text: string): URL {
    if (!hasParsableHost(text)) throw hostTooLong();
    if (!URL.canParse(text))
      throw new FetchRefused('bad_url', 'it must be a whole URL, such as https://example.com/path');
    const url = new URL(text);
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw new FetchRefused('bad_scheme', 'only http and https URLs are fetched');
    if (url.username !== '' || url.password !== '')
      throw new FetchRefused('credentials', 'a URL with a user name or password is not fetched');
    if (hostNameOf(url).length > HOST_CHARACTERS_MAX) throw hostTooLong();
    if (!this.allowsHost(url)) {
      this.checkPort(url);
      const host = withoutBrackets(url.hostname);
      if (isIP(host) !== 0 && !this.policy.permits(host))
        throw new FetchRefused('address_blocked', 'the host is not at a public address');
    }
    expectOneReading(text, url);
    return url;
  }

  /** Whether operators let this very host through. */
  allowsHost(url: URL): boolean {
    return this.allow.hosts.has(hostAndPort(url));
  }

  /**
   * Refuses what `checkUrl` does, and names that lead into a network of one's own wherever they are resolved. For addresses
   * that are called later: what another name leads to is judged then. Where operators allow ranges, any name may lead there.
   *
   * @throws FetchRefused
   */
  checkLater(text: string): URL {
    const url = this.checkUrl(text);
    const isAllowed = this.allow.ranges.length > 0 || this.allowsHost(url);
    if (!isAllowed && isLocalName(url))
      throw new FetchRefused('address_blocked', 'the host is not at a public address');
    return url;
  }

  /**
   * Refuses an address whose host is not at public addresses now, without calling it. For what others are to fetch.
   *
   * @throws FetchRefused as `checkUrl`, and `address_blocked` when any address of the host is not public.
   * @throws FetchFailed when the host cannot be found, within the time limits of look-ups (some 5 s).
   */
  async checkHost(address: string, accountId: string): Promise<URL> {
    const url = this.checkUrl(address);
    try {
      await addressesOf(withoutBrackets(url.hostname), hostAndPort(url), this.judging(accountId));
    } catch (error) {
      throw asFetchError(error);
    }
    return url;
  }

  /**
   * GETs an address, following redirects; any status is an answer. Compressed files are refused.
   *
   * @throws FetchRefused when a rule forbids it, also while the body is read.
   * @throws FetchFailed when the network fails, also while the body is read.
   */
  async get(address: string, options: SafeGetOptions): Promise<SafeAnswer> {
    // A limit overall: limits on silence alone would let a body drip forever.
    const signal = abortAfter(options.timeoutMs, options.signal);
    let url = this.checkUrl(address);
    let { credentials } = options;
    for (let hops = 0; ; hops += 1) {
      const headers = { ...options.headers, ...credentials };
      const reply = await this.send(url, { method: 'GET', headers, signal }, options);
      const next = redirectTarget(reply, url);
      if (next === undefined) return { ...acceptBody(reply, options), url: url.href };
      discard(reply.body);
      if (hops >= (this.options.maxRedirects ?? 3))
        throw new FetchRefused('too_many_redirects', 'the host redirects too often');
      const target = this.checkUrl(next);
      if (url.protocol === 'https:' && target.protocol === 'http:')
        throw new FetchRefused('downgrade', 'the host redirects from https to http');
      if (target.origin !== url.origin) credentials = undefined;
      url = target;
    }
  }

  /**
   * POSTs a body; any status is an answer, a redirect too: it is never followed. Of a compressed answer nothing is read.
   *
   * @throws FetchRefused when a rule forbids it.
   * @throws FetchFailed when the network fails.
   */
  async post(address: string, options: SafePostOptions): Promise<SafePostAnswer> {
    const { headers, timeoutMs, maxReplyBytes, replyTimeoutMs } = options;
    return withinTime(timeoutMs, options.signal, async (signal) => {
      const reply = await this.send(
        this.checkUrl(address),
        { method: 'POST', headers, body: options.body, signal },
        options,
      );
      try {
        const isText = encodingOf(reply) === undefined;
        const body = isText ? await readBeginning(reply.body, maxReplyBytes, replyTimeoutMs) : Buffer.alloc(0);
        return { status: reply.statusCode, headers: reply.headers, body };
      } catch (error) {
        throw asFetchError(error, options.signal);
      } finally {
        discard(reply.body);
      }
    });
  }

  /**
   * Calls once and answers with a body that still flows; any status is an answer, a redirect too: it is never followed.
   *
   * @throws FetchRefused as `get`, also while the body is read.
   * @throws FetchFailed as `get`.
   */
  async request(address: string, options: SafeSendOptions): Promise<SafeAnswer> {
    const { method, body, headers = {}, silenceMs } = options;
    const url = this.checkUrl(address);
    const signal = abortAfter(options.timeoutMs, options.signal);
    const silence = silenceMs === undefined ? {} : { headersTimeout: silenceMs, bodyTimeout: silenceMs };
    const reply = await this.send(url, { method, headers, body: body ?? null, signal, ...silence }, options);
    return { ...acceptBody(reply, options), url: url.href };
  }

  /** Ends all connections at once. */
  async close(): Promise<void> {
    this.agents.clear();
    await Promise.all([...this.open].map((agent) => agent.destroy()));
  }

  private judging(share: string) {
    return { policy: this.policy, allowedHosts: this.allow.hosts, resolve: this.resolve, share };
  }

  private agentOf(accountId: string): Agent {
    const known = this.agents.get(accountId);
    if (known) return known;
    const silenceMs = this.options.silenceTimeoutMs ?? 10_000;
    const connectTimeoutMs = this.options.connectTimeoutMs ?? 3_000;
    const agent = new Agent({
      connections: 64,
      keepAliveTimeout: 2_000,
      maxHeaderSize: 16_384,
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
      connect: checkedConnector({ ...this.judging(accountId), connectTimeoutMs }),
    });
    this.open.add(agent);
    this.agents.set(accountId, agent);
    return agent;
  }

  private checkPort(url: URL): void {
    const ports = this.options.ports ?? DEFAULT_PORTS;
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
    if (ports !== 'any' && !ports.includes(port))
      throw new FetchRefused('bad_port', `port ${port} is not allowed for fetching; allowed: ${ports.join(', ')}`);
  }

  private async send(
    url: URL,
    options: Pick<Dispatcher.RequestOptions, 'method' | 'body' | 'signal' | 'headersTimeout' | 'bodyTimeout'> & {
      headers: Readonly<Record<string, string>>;
    },
    { accountId = '', signal: callerSignal }: Pick<SafeGetOptions, 'accountId' | 'signal'>,
  ): Promise<Dispatcher.ResponseData> {
    try {
      return await request(url, {
        ...options,
        onInfo: limitInterimResponses(),
        dispatcher: this.agentOf(accountId),
        headers: { 'accept-encoding': 'identity', 'user-agent': USER_AGENT, ...options.headers },
      });
    } catch (error) {
      throw asFetchError(error, callerSignal);
    }
  }
}

/** What a partial answer says about itself: where it begins, and how long the whole file is. Both in bytes. */
interface ContentRange {
  readonly start: number;
  readonly size: number;
}

/** Reads `content-range: bytes 0-99/1234`; nothing when it is missing, malformed or hides the size. */
export function contentRange(answer: Pick<SafeAnswer, 'headers'>): ContentRange | undefined {
  const match = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15})$/.exec(String(answer.headers['content-range'] ?? ''));
  return match ? { start: Number(match[1]), size: Number(match[2]) } : undefined;
}
