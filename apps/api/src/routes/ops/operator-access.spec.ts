import { OperatorAccess, SESSION_SECONDS, tokenDigest } from './operator-access.js';

const TOKENS = { admin: tokenDigest('admin-token-1'), viewer: tokenDigest('viewer-token-1') };
const PEPPER = 'a-pepper-for-tests-only';

describe('Operator sessions', () => {
  const access = new OperatorAccess(TOKENS, PEPPER);

  it('grants the role of the token, and nothing for a wrong or empty one', () => {
    expect(['admin-token-1', 'viewer-token-1', 'admin-token-2', ''].map((token) => access.roleOf(token))).toEqual([
      'admin',
      'viewer',
      null,
      null,
    ]);
  });

  it('has no default password: a role without a token cannot be used', () => {
    const closed = new OperatorAccess({ admin: null, viewer: null }, PEPPER);
    expect(['', 'undefined', 'admin'].map((token) => closed.roleOf(token))).toEqual([null, null, null]);
  });

  it('is accepted by every replica with the same secrets', () => {
    expect(new OperatorAccess(TOKENS, PEPPER).read(access.open('viewer'))).toBe('viewer');
  });

  it('ends when it expires, when its token changes, and when it is tampered with', () => {
    const session = access.open('viewer');
    const later = new OperatorAccess(TOKENS, PEPPER, () => Date.now() + (SESSION_SECONDS + 1) * 1000);
    const changedToken = new OperatorAccess({ ...TOKENS, viewer: tokenDigest('viewer-token-2') }, PEPPER);
    expect(later.read(session)).toBeNull();
    expect(changedToken.read(session)).toBeNull();
    expect(access.read(session.replace('viewer', 'admin'))).toBeNull();
    expect(access.read(`${session}x`)).toBeNull();
    expect(access.read(undefined)).toBeNull();
  });
});
