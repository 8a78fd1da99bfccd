import { expectAllowedAddress, isAddressBlock } from './client-address.js';

describe('The addresses a key may be used from', () => {
  it.each([
    [[], '203.0.113.9'],
    [['203.0.113.0/24'], '203.0.113.9'],
    [['203.0.113.9'], '203.0.113.9'],
    [['203.0.113.9'], '::ffff:203.0.113.9'],
    [['10.0.0.0/8', '2001:db8::/32'], '2001:db8::1'],
  ])('%j allows %s', (blocks, address) => {
    expect(() => expectAllowedAddress(blocks, address)).not.toThrow();
  });

  it.each([
    [['203.0.113.0/24'], '203.0.114.9'],
    [['203.0.113.9'], '2001:db8::1'],
    [['::/0'], '203.0.113.9'],
    [['0.0.0.0/0'], undefined],
    [['0.0.0.0/0'], 'not an address'],
  ])('%j refuses %s', (blocks, address) => {
    expect(() => expectAllowedAddress(blocks, address)).toThrow(
      expect.objectContaining({ code: 'address_not_allowed' }),
    );
  });

  it.each(['203.0.113.0/33', '203.0.113', 'example.com', '', '2001:db8::/129', '0x7f.1'])(
    '%j is not an address block',
    (text) => {
      expect(isAddressBlock(text)).toBe(false);
    },
  );

  it.each(['203.0.113.0/24', '203.0.113.9', '2001:db8::/32', '::1'])('%j is an address block', (text) => {
    expect(isAddressBlock(text)).toBe(true);
  });
});
