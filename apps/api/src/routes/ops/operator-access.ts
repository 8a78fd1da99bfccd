import { createHash, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Platform } from '#runtime';

/** What a signed-in operator may do: look, or look and act. */
export type OperatorRole = 'admin' | 'viewer';

/** SHA-256 of what operators sign in with. A role without a token cannot be had: there is no default password. */
export interface OperatorTokens {
  readonly admin: Buffer | null;
  readonly viewer: Buffer | null;
}

/** What is kept of a token. */
export const tokenDigest = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Knows the tokens of operators. Changing a token ends the sessions that it opened. */
export class OperatorAccess {
  constructor(
    private readonly tokens: OperatorTokens,
    private readonly pepper: string,
  ) {}

  static on({ adminToken, config, secrets }: Platform): OperatorAccess {
    const { OPS_VIEWER_TOKEN } = config.ops;
    const viewer = OPS_VIEWER_TOKEN ? tokenDigest(OPS_VIEWER_TOKEN) : null;
    const tokens: OperatorTokens = {
      // Asked for each time: a new admin token may come while the gateway runs.
      get admin() {
        return adminToken.digest;
      },
      viewer,
    };
    return new OperatorAccess(tokens, secrets.keyPepper);
  }

  /** The role a token opens, or null. Takes the same time however much of it is right. */
  roleOf(token: string): OperatorRole | null {
    const presented = tokenDigest(token);
    const opens = (own: Buffer | null): boolean => own !== null && timingSafeEqual(presented, own);
    if (opens(this.tokens.admin)) return 'admin';
    return opens(this.tokens.viewer) ? 'viewer' : null;
  }

  /** What changes with the token of a role, kept beside the sessions that it opens; null without a token. */
  checkOf(role: OperatorRole): Buffer | null {
    const token = this.tokens[role];
    return token && Buffer.from(hkdfSync('sha256', this.pepper, token, `console sessions of ${role}`, 32));
  }
}
