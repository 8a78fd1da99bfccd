import ipaddr from 'ipaddr.js';

/** An address range: the network and how many of its leading bits count. */
export type AddressRange = readonly [network: ipaddr.IPv4 | ipaddr.IPv6, prefixBits: number];

const HOST_AND_PORT = /^(?:\[[0-9a-f:.]+\]|[a-z0-9_.-]+):([0-9]{1,5})$/;

/** What operators let through although it is not public. */
export interface AllowList {
  readonly ranges: readonly AddressRange[];
  /** Lower-case `host:port` entries, exactly as a URL spells them; IPv6 hosts stand in brackets. */
  readonly hosts: ReadonlySet<string>;
}

/** Says what is wrong with an entry of an allow list, or nothing when it is a CIDR range or a host with a port. */
export function allowListProblem(entry: string): string | undefined {
  if (entry.includes('/'))
    return ipaddr.isValidCIDR(entry) ? undefined : `"${entry}" is not a CIDR range such as 10.1.0.0/16`;
  const port = HOST_AND_PORT.exec(entry.toLowerCase())?.[1];
  const fits = port !== undefined && Number(port) >= 1 && Number(port) <= 65_535;
  return fits ? undefined : `"${entry}" is neither a CIDR range nor a host with a port, such as media.local:9000`;
}

/** Reads an allow list. @throws RangeError naming the first wrong entry. */
export function parseAllowList(entries: readonly string[]): AllowList {
  const problem = entries.map(allowListProblem).find((text) => text !== undefined);
  if (problem !== undefined) throw new RangeError(problem);
  return {
    ranges: parseRanges(entries.filter((entry) => entry.includes('/'))),
    hosts: new Set(entries.flatMap((entry) => (entry.includes('/') ? [] : [entry.toLowerCase()]))),
  };
}

/** Reads CIDR ranges that are known to be well-formed. */
export const parseRanges = (ranges: readonly string[]): AddressRange[] =>
  ranges.map((range) => ipaddr.parseCIDR(range));
