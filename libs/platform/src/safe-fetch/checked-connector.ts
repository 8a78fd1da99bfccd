import dns from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { AddressPolicy } from './address-policy.js';
import { FetchRefused } from './fetch-errors.js';

/** Resolves a host name to all its addresses, as `dns.lookup` does with `all: true`. */
export type LookupAll = (
  host: string,
  options: dns.LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: dns.LookupAddress[]) => void,
) => void;

/** What the connector needs to decide. */
export interface CheckedConnectorOptions {
  readonly policy: AddressPolicy;
  /** `host:port` entries that skip the check. */
  readonly allowedHosts: ReadonlySet<string>;
  readonly connectTimeoutMs: number;
  readonly lookup: LookupAll;
}

const blocked = (): FetchRefused => new FetchRefused('address_blocked', 'the host is not at a public address');

/**
 * Opens connections only to addresses that the policy permits. A name is resolved once, all of its addresses must pass,
 * and exactly those are dialled, so a second answer of the name server cannot matter. Literal addresses are checked here
 * because the socket never resolves them.
 */
export function checkedConnector(options: CheckedConnectorOptions): buildConnector.connector {
  const { policy, allowedHosts, connectTimeoutMs: timeout } = options;
  const open = buildConnector({ timeout });
  const openChecked = buildConnector({ timeout, lookup: checkedLookup(policy, options.lookup) });
  return (target, done) => {
    if (allowedHosts.has(hostAndPort(target))) return open(target, done);
    const host = withoutBrackets(target.hostname);
    if (isIP(host) !== 0 && !policy.permits(host)) return done(blocked(), null);
    return openChecked(target, done);
  };
}

function checkedLookup(policy: AddressPolicy, lookup: LookupAll): LookupFunction {
  return (host, options, done) => {
    lookup(host, { ...options, all: true, order: 'verbatim' }, (error, addresses) => {
      if (error) return done(error, '');
      const [first] = addresses;
      if (!first || !addresses.every(({ address }) => policy.permits(address))) return done(blocked(), '');
      return options.all ? done(null, addresses) : done(null, first.address, first.family);
    });
  };
}

/** The `host:port` of a target as an allow list spells it, with the scheme's port when none is given. */
export function hostAndPort(target: { hostname: string; port: string | number; protocol: string }): string {
  return `${target.hostname.toLowerCase()}:${target.port || (target.protocol === 'https:' ? 443 : 80)}`;
}

/** An IPv6 host without the brackets that URLs put around it. */
export const withoutBrackets = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');
