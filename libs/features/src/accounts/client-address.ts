import ipaddr from 'ipaddr.js';
import { GatewayError } from '#contracts';

/** True for a single address or a CIDR block, of either version. Short forms such as `10.1` are none. */
export const isAddressBlock = (text: string): boolean =>
  ipaddr.IPv4.isValidFourPartDecimal(text) ||
  ipaddr.IPv4.isValidCIDRFourPartDecimal(text) ||
  ipaddr.IPv6.isValid(text) ||
  ipaddr.IPv6.isValidCIDR(text);

/**
 * Lets a client through when one of the blocks holds its address; no blocks let everyone through. IPv4 addresses that
 * arrive wrapped in IPv6 are unwrapped first.
 *
 * @throws GatewayError `address_not_allowed`.
 */
export function expectAllowedAddress(blocks: readonly string[], address: string | undefined): void {
  if (blocks.length === 0) return;
  const client = address !== undefined && ipaddr.isValid(address) ? ipaddr.process(address) : undefined;
  if (client && blocks.some((block) => holds(block, client))) return;
  throw new GatewayError('address_not_allowed', 'This API key may not be used from your address.', {
    log: `address ${address} is in none of the ${blocks.length} blocks of the key`,
  });
}

function holds(block: string, client: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  const [network, bits] = ipaddr.isValidCIDR(block) ? ipaddr.parseCIDR(block) : asBlock(ipaddr.process(block));
  return network.kind() === client.kind() && client.match(network, bits);
}

const asBlock = (address: ipaddr.IPv4 | ipaddr.IPv6): [ipaddr.IPv4 | ipaddr.IPv6, number] => [
  address,
  address.kind() === 'ipv4' ? 32 : 128,
];
