import dns from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { LRUCache } from 'lru-cache';
import { buildConnector } from 'undici';
import type { ResolvedAddress } from '../dns/name-resolver.js';
import type { AddressPolicy } from './address-policy.js';
import { FetchRefused } from './fetch-errors.js';

/** Finds all addresses of a host name, as `NameResolver.resolve` does. */
export type ResolveName = (host: string, share: string) => Promise<readonly ResolvedAddress[]>;

interface CheckedConnectorOptions {
  readonly policy: AddressPolicy;
  /** `host:port` entries that skip the check. */
  readonly allowedHosts: ReadonlySet<string>;
  readonly connectTimeoutMs: number;
  readonly resolve: ResolveName;
  /** Whose look-ups these are. */
  readonly share: string;
}

/** The most addresses of one host that are dialled, one after the other. All of them are judged. */
const DIALLED_MAX = 8;

const blocked = (): FetchRefused => new FetchRefused('address_blocked', 'the host is not at a public address');

/**
 * Opens connections only to addresses that the policy permits. A name is resolved once, all of its addresses must pass,
 * and exactly those are dialled, so a second answer of the name server cannot matter. Literal addresses are checked here
 * because the socket never resolves them.
 */
export function checkedConnector(options: CheckedConnectorOptions): buildConnector.connector {
  /** What the hosts that are being dialled were found at; the socket asks for it in the same moment. */
  const found = new LRUCache<string, readonly ResolvedAddress[]>({ max: 256 });
  const open = buildConnector({ timeout: options.connectTimeoutMs, lookup: lookupIn(found) });
  const connect = async (...[target, done]: Parameters<buildConnector.connector>): Promise<void> => {
    const host = withoutBrackets(target.hostname);
    try {
      found.set(host, await addressesOf(host, hostAndPort(target), options));
    } catch (error) {
      done(error as Error, null);
      return;
    }
    open(target, done);
  };
  return (target, done) => void connect(target, done);
}

/**
 * The addresses of a host that may be dialled, at least one.
 *
 * @throws FetchRefused `address_blocked` when any of its addresses is not permitted.
 */
export async function addressesOf(
  host: string,
  target: string,
  { policy, allowedHosts, resolve, share }: Omit<CheckedConnectorOptions, 'connectTimeoutMs'>,
): Promise<readonly ResolvedAddress[]> {
  const isAllowed = allowedHosts.has(target);
  const addresses = await (isAllowed ? resolveOwn(host, share, resolve) : resolveLiteral(host, share, resolve));
  if (!isAllowed && !addresses.every(({ address }) => policy.permits(address))) throw blocked();
  return addresses.slice(0, DIALLED_MAX);
}

async function resolveLiteral(host: string, share: string, resolve: ResolveName): Promise<readonly ResolvedAddress[]> {
  const family = isIP(host);
  return family === 4 || family === 6 ? [{ address: host, family }] : resolve(host, share);
}

/**
 * A host that the operator allowed by name may be one that only the system knows, by a search domain. The system is asked
 * for such a host alone, and only when name servers answered that there is no such name: it waits on a thread of the process.
 */
async function resolveOwn(host: string, share: string, resolve: ResolveName): Promise<readonly ResolvedAddress[]> {
  try {
    return await resolveLiteral(host, share, resolve);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTFOUND') throw error;
    return (await dns.lookup(host, { all: true })) as ResolvedAddress[];
  }
}

function lookupIn(found: LRUCache<string, readonly ResolvedAddress[]>): LookupFunction {
  return (host, options, done) => {
    const addresses = found.get(host) ?? [];
    const [first] = addresses;
    if (!first) return done(blocked(), '');
    return options.all ? done(null, [...addresses]) : done(null, first.address, first.family);
  };
}

/** The `host:port` of a target as an allow list spells it, with the scheme's port when none is given. */
export function hostAndPort(target: { hostname: string; port: string | number; protocol: string }): string {
  return `${target.hostname.toLowerCase()}:${target.port || (target.protocol === 'https:' ? 443 : 80)}`;
}

/** An IPv6 host without the brackets that URLs put around it. */
export const withoutBrackets = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

/** Names that lead into a network of one's own wherever they are resolved (RFC 6762, appendix G; `svc` of Kubernetes), and names without a dot. */
const LOCAL_NAME =
  /(^|\.)(localhost|local|localdomain|internal|intranet|private|lan|home|corp|svc|home\.arpa)$|^[^.]*$/;

/** Whether the host of an address is such a name. */
export function isLocalName(url: URL): boolean {
  const host = hostNameOf(url);
  return isIP(host) === 0 && LOCAL_NAME.test(host);
}

/** The host without brackets, and without the dot that ends a whole name. */
export const hostNameOf = ({ hostname }: URL): string => withoutBrackets(hostname).toLowerCase().replace(/\.$/, '');
