import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type AddressRange, parseRanges } from './allow-list.js';

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
