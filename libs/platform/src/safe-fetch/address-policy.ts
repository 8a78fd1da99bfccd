import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Public by number, yet a metadata service inside Azure. Everything else that is special is known by its range:
 * private, loopback, link-local (with the metadata addresses of the other clouds), carrier-grade NAT, translated, reserved.
 */
const BLOCKED_ALTHOUGH_PUBLIC = parseRanges(['168.63.129.16/32']);

/** The only part of IPv6 given out for public use; also keeps out IPv4-compatible forms such as ::7f00:1. */
const PUBLIC_IPV6 = parseRanges(['2000::/3']);

/** Decides whether an address may be dialled. An IPv4 address inside IPv6 (::ffff:10.0.0.1) is treated as IPv4. */
export class AddressPolicy {
  constructor(private readonly allowed: readonly AddressRange[]) {}

  /** True for public addresses and those of the allow list; false for everything else, also for what is not an address. */
  permits(text: string): boolean {
    // A zone (fe80::1%eth0) exists only on local networks.
    if (isIP(text) === 0 || text.includes('%')) return false;
    const address = ipaddr.process(text);
    if (liesIn(address, this.allowed)) return true;
    if (address.range() !== 'unicast' || liesIn(address, BLOCKED_ALTHOUGH_PUBLIC)) return false;
    return address.kind() === 'ipv4' || liesIn(address, PUBLIC_IPV6);
  }
}

function liesIn(address: ipaddr.IPv4 | ipaddr.IPv6, ranges: readonly AddressRange[]): boolean {
  return ranges.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
}

/** An address range: the network and how many of its leading bits count. */
type AddressRange = readonly [network: ipaddr.IPv4 | ipaddr.IPv6, prefixBits: number];

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
function parseRanges(ranges: readonly string[]): AddressRange[] {
  return ranges.map((range) => ipaddr.parseCIDR(range));
}
