import ipaddr from 'ipaddr.js';

const NAMED = new Set(['loopback', 'linklocal', 'uniquelocal']);

/** True for a list of addresses, blocks and named networks, as `TRUSTED_PROXIES` takes it. */
export const isProxyList = (value: unknown): boolean =>
  typeof value === 'string' && value.split(',').every((entry) => isNetwork(entry.trim()));

const isNetwork = (entry: string): boolean => NAMED.has(entry) || ipaddr.isValid(entry) || ipaddr.isValidCIDR(entry);
