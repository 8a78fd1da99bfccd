import { AddressPolicy, parseAllowList } from './address-policy.js';

const policy = new AddressPolicy(parseAllowList(['10.9.0.0/16', 'fd12::/16']).ranges);

describe('the address policy', () => {
  it.each(['8.8.8.8', '2606:4700::1111', '10.9.1.1', '::ffff:10.9.1.1', '::ffff:8.8.8.8', 'fd12::1'])(
    'permits the public or allowed address %s',
    (address) => {
      expect(policy.permits(address)).toBe(true);
    },
  );

  it.each(['10.8.1.1', '4000::1', '::1', 'fe80::1%eth0', '2606:4700::1111%eth0', 'fd13::1', 'name', '', '8.8.8'])(
    'does not permit "%s"',
    (address) => {
      expect(policy.permits(address)).toBe(false);
    },
  );
});
