import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { AddressPolicy, type AllowList, parseAllowList } from './address-policy.js';
import { hostAndPort, hostNameOf, isLocalName } from './checked-connector.js';
import { FetchRefused } from './fetch-errors.js';
import type { SafeFetcher } from './safe-fetcher.js';

/** A name is given up on after so long, in milliseconds. */
const RESOLVE_MS = 2_000;

/** Names of one request that are resolved; each is a question that the caller chose. */
const MAX_NAMES = 16;

/** Letters of a host that are not ASCII: which name they stand for depends on the version of the rules (ß is ss to older ones). */
const NOT_ASCII_HOST = /^[^/]*\/\/[^/?#]*\P{ASCII}/u;

/** All addresses of a name, within a bounded time. Rejects when there are none, or none came in time. */
export type ResolveName = (host: string) => Promise<readonly string[]>;

const resolveName: ResolveName = async (host) => {
  // c-ares: a silent name server holds no thread of the process.
  const resolver = new Resolver({ timeout: RESOLVE_MS, tries: 1 });
  const stop = setTimeout(() => resolver.cancel(), RESOLVE_MS);
  const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  clearTimeout(stop);
  return found.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
};

/**
 * The rules of `SafeFetcher` for addresses that another party fetches: the vendor, or a server in the operator's own
 * network, which could reach what the caller cannot.
 */
export class ForwardedUrls {
  private readonly allow: AllowList;
  private readonly policy: AddressPolicy;

  /** @param allow as for the fetcher: ranges, and hosts with their port. */
  constructor(
    private readonly fetcher: SafeFetcher,
    allow: readonly string[] = [],
    private readonly resolve: ResolveName = resolveName,
  ) {
    this.allow = parseAllowList(allow);
    this.policy = new AddressPolicy(this.allow.ranges);
  }

  /**
   * Checks an address by its text alone, without resolving names.
   *
   * @throws FetchRefused
   */
  check(text: string): URL {
    const url = this.fetcher.checkUrl(text);
    if (NOT_ASCII_HOST.test(text)) throw new FetchRefused('bad_url', `its host must be written as ${url.hostname}`);
    if (isLocalName(url) && !this.isAllowed(url))
      throw new FetchRefused('address_blocked', 'the host is not at a public address');
    return url;
  }

  /**
   * Judges where the names of checked addresses lead. A name that cannot be resolved is refused.
   *
   * @throws FetchRefused
   */
  async checkNames(urls: readonly URL[]): Promise<void> {
    const names = new Set(urls.filter((url) => !this.isAllowed(url)).map(hostNameOf));
    const asked = [...names].filter((host) => isIP(host) === 0);
    if (asked.length > MAX_NAMES)
      throw new FetchRefused('address_blocked', `the URLs of a request may name at most ${MAX_NAMES} hosts`);
    await Promise.all(asked.map((host) => this.checkName(host)));
  }

  private async checkName(host: string): Promise<void> {
    const addresses = await this.resolve(host).catch(() => []);
    if (addresses.length === 0 || !addresses.every((address) => this.policy.permits(address)))
      throw new FetchRefused('address_blocked', `the host ${host} is not at a public address`);
  }

  private isAllowed(url: URL): boolean {
    return this.allow.hosts.has(hostAndPort(url));
  }
}
