import { OperatorAccess, tokenDigest } from './operator-access.js';

const TOKENS = { admin: tokenDigest('admin-token-1'), viewer: tokenDigest('viewer-token-1') };
const PEPPER = 'a-pepper-for-tests-only';

describe('Operator tokens', () => {
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

  it('gives each token a check of its own, which every replica with the same secrets knows', () => {
    const other = new OperatorAccess({ ...TOKENS, viewer: tokenDigest('viewer-token-2') }, PEPPER);
    expect(new OperatorAccess(TOKENS, PEPPER).checkOf('viewer')).toEqual(access.checkOf('viewer'));
    expect(other.checkOf('viewer')).not.toEqual(access.checkOf('viewer'));
    expect(other.checkOf('admin')).toEqual(access.checkOf('admin'));
    expect(access.checkOf('admin')).not.toEqual(access.checkOf('viewer'));
  });
});
