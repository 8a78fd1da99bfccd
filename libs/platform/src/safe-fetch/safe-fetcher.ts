import dns from 'node:dns';
import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import { Agent, type Dispatcher, request } from 'undici';
import { abortAfter, withinTime } from '../clock/time-limit.js';
import { AddressPolicy } from './address-policy.js';
import { type AllowList, parseAllowList } from './allow-list.js';
import { boundedBody, readBeginning, tooLarge } from './bounded-body.js';
import { checkedConnector, hostAndPort, type LookupAll, withoutBrackets } from './checked-connector.js';
import { asFetchError, FetchRefused } from './fetch-errors.js';

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
  /** Resolver of host names; the system's unless a test says otherwise. */
  readonly lookup?: LookupAll;
}

/** Bounds of one GET. */
export interface SafeGetOptions {
  /** Longest time from the call to the last byte. */
  readonly timeoutMs: number;
  /** Most bytes of the body; a longer answer is refused with `too_large`. */
  readonly maxBytes: number;
  readonly headers?: Readonly<Record<string, string>>;
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

/** Body and bounds of one POST. */
export interface SafePostOptions {
  readonly body: string | Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** Longest time from the call to the last byte that is read. */
  readonly timeoutMs: number;
  /** How much of the answer is read; the rest is left unread. */
  readonly maxReplyBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** The answer to a POST, read as far as allowed. */
export interface SafePostAnswer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: Buffer;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const DEFAULT_PORTS = [80, 443];
const USER_AGENT = 'generation-gateway/1';

/**
 * HTTP client for addresses that users and vendors give us. It reaches only public addresses (and what operators allow),
 * on every hop, and dials exactly the addresses it checked. One instance serves the whole process.
 */
export class SafeFetcher {
  private readonly agent: Agent;
  private readonly policy: AddressPolicy;
  private readonly allow: AllowList;

  /** @throws RangeError when an entry of the allow list is neither a CIDR range nor `host:port`. */
  constructor(private readonly options: SafeFetcherOptions = {}) {
    const silenceMs = options.silenceTimeoutMs ?? 10_000;
    this.allow = parseAllowList(options.allow ?? []);
    this.policy = new AddressPolicy(this.allow.ranges);
    this.agent = new Agent({
      connections: 64,
      keepAliveTimeout: 2_000,
      maxHeaderSize: 16_384,
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
      connect: checkedConnector({
        policy: this.policy,
        allowedHosts: this.allow.hosts,
        connectTimeoutMs: options.connectTimeoutMs ?? 3_000,
        lookup: options.lookup ?? dns.lookup,
      }),
    });
  }

  /**
   * Refuses an address before anything is sent: only http and https, no credentials, a permitted port, no literal
   * address that is not public. Names are judged when they are resolved, by `get` and `post`.
   *
   * @throws FetchRefused
   */
  checkUrl(text: string): URL {
    if (!URL.canParse(text)) throw new FetchRefused('bad_url', 'it is not a URL');
    const url = new URL(text);
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw new FetchRefused('bad_scheme', 'only http and https URLs are fetched');
    if (url.username !== '' || url.password !== '')
      throw new FetchRefused('credentials', 'a URL with a user name or password is not fetched');
    if (this.allow.hosts.has(hostAndPort(url))) return url;
    this.checkPort(url);
    const host = withoutBrackets(url.hostname);
    if (isIP(host) !== 0 && !this.policy.permits(host))
      throw new FetchRefused('address_blocked', 'the host is not at a public address');
    return url;
  }

  /**
   * GETs an address, following redirects; any status is an answer. Compressed bodies are refused.
   *
   * @throws FetchRefused when a rule forbids it, also while the body is read.
   * @throws FetchFailed when the network fails, also while the body is read.
   */
  async get(address: string, options: SafeGetOptions): Promise<SafeAnswer> {
    // A limit on the whole: limits on silence alone would let a body drip for ever.
    const signal = abortAfter(options.timeoutMs, options.signal);
    let url = this.checkUrl(address);
    for (let hops = 0; ; hops += 1) {
      const reply = await this.send(url, { method: 'GET', headers: options.headers ?? {}, signal }, options.signal);
      const next = redirectTarget(reply, url);
      if (next === undefined) return { ...acceptBody(reply, options), url: url.href };
      discard(reply.body);
      if (hops >= (this.options.maxRedirects ?? 3))
        throw new FetchRefused('too_many_redirects', 'the host redirects too often');
      const target = this.checkUrl(next);
      if (url.protocol === 'https:' && target.protocol === 'http:')
        throw new FetchRefused('downgrade', 'the host redirects from https to http');
      url = target;
    }
  }

  /**
   * POSTs a body; any status is an answer, a redirect too: it is never followed.
   *
   * @throws FetchRefused when a rule forbids it.
   * @throws FetchFailed when the network fails.
   */
  async post(address: string, options: SafePostOptions): Promise<SafePostAnswer> {
    const { body, headers, timeoutMs, maxReplyBytes } = options;
    return withinTime(timeoutMs, options.signal, async (signal) => {
      const reply = await this.send(this.checkUrl(address), { method: 'POST', headers, body, signal }, options.signal);
      try {
        const beginning = await readBeginning(reply.body, maxReplyBytes);
        return { status: reply.statusCode, headers: reply.headers, body: beginning };
      } catch (error) {
        throw asFetchError(error, options.signal);
      } finally {
        discard(reply.body);
      }
    });
  }

  /** Ends all connections at once. */
  async close(): Promise<void> {
    await this.agent.destroy();
  }

  private checkPort(url: URL): void {
    const ports = this.options.ports ?? DEFAULT_PORTS;
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
    if (ports !== 'any' && !ports.includes(port))
      throw new FetchRefused('bad_port', `port ${port} is not fetched from; allowed: ${ports.join(', ')}`);
  }

  private async send(
    url: URL,
    options: Pick<Dispatcher.RequestOptions, 'method' | 'body' | 'signal'> & {
      headers: Readonly<Record<string, string>>;
    },
    callerSignal: AbortSignal | undefined,
  ): Promise<Dispatcher.ResponseData> {
    try {
      return await request(url, {
        ...options,
        dispatcher: this.agent,
        headers: { 'accept-encoding': 'identity', 'user-agent': USER_AGENT, ...options.headers },
      });
    } catch (error) {
      throw asFetchError(error, callerSignal);
    }
  }
}

function redirectTarget(reply: Dispatcher.ResponseData, from: URL): string | undefined {
  const location = [reply.headers.location].flat()[0];
  if (!REDIRECTS.has(reply.statusCode) || location === undefined) return undefined;
  return URL.canParse(location, from.href) ? new URL(location, from).href : location;
}

function acceptBody(
  reply: Dispatcher.ResponseData,
  { maxBytes, signal }: Pick<SafeGetOptions, 'maxBytes' | 'signal'>,
): Omit<SafeAnswer, 'url'> {
  const encoding = String(reply.headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding !== 'identity' && encoding !== '') {
    discard(reply.body);
    throw new FetchRefused('content_encoding', 'the host sends a compressed body although none was asked for');
  }
  if (Number(reply.headers['content-length'] ?? 0) > maxBytes) {
    discard(reply.body);
    throw tooLarge(maxBytes);
  }
  return { status: reply.statusCode, headers: reply.headers, body: boundedBody(reply.body, maxBytes, signal) };
}

/** Ends an answer that nobody will read; its late errors concern nobody. */
function discard(body: Readable): void {
  body.on('error', () => undefined);
  body.destroy();
}
