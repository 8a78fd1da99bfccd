import { SecretSealer } from './secret-sealer.js';

describe('SecretSealer', () => {
  const sealer = new SecretSealer({ keyPepper: 'a-pepper-of-the-tests' });

  it('opens what it sealed for the same owner, and seals the same secret differently each time', () => {
    const sealed = sealer.seal('whsec_abc', 'wh_1');
    expect(sealer.open(sealed, 'wh_1')).toBe('whsec_abc');
    expect(sealer.seal('whsec_abc', 'wh_1')).not.toEqual(sealed);
    expect(sealed.toString('latin1')).not.toContain('whsec_abc');
  });

  it('refuses another owner, another key and changed bytes', () => {
    const sealed = sealer.seal('whsec_abc', 'wh_1');
    expect(() => sealer.open(sealed, 'wh_2')).toThrow();
    expect(() => new SecretSealer({ keyPepper: 'another-pepper-here' }).open(sealed, 'wh_1')).toThrow();
    sealed[sealed.length - 1] = (sealed.at(-1) ?? 0) ^ 1;
    expect(() => sealer.open(sealed, 'wh_1')).toThrow();
  });
});
