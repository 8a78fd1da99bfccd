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

  it('makes keys that seal content for one row of their owner, and that nothing but their sealed form brings back', () => {
    const sealedKey = sealer.newKey('log_1');
    const sealed = sealer.withKey(sealedKey, 'log_1').seal(Buffer.from('a prompt'), 'entry_1');
    expect(sealer.withKey(sealedKey, 'log_1').open(sealed, 'entry_1').toString()).toBe('a prompt');
    expect(sealed.toString('latin1')).not.toContain('a prompt');
    expect(() => sealer.withKey(sealedKey, 'log_1').open(sealed, 'entry_2')).toThrow();
    expect(() => sealer.withKey(sealedKey, 'log_2')).toThrow();
    expect(() => sealer.withKey(sealer.newKey('log_1'), 'log_1').open(sealed, 'entry_1')).toThrow();
  });
});
