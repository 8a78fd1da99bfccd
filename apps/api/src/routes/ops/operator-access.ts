import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Platform } from '#runtime';

/** What a signed-in operator may do: look, or look and act. */
export type OperatorRole = 'admin' | 'viewer';

/** How long a sign-in lasts, in seconds. */
export const SESSION_SECONDS = 8 * 3_600;

/** SHA-256 of what operators sign in with. A role without a token cannot be had: there is no default password. */
export interface OperatorTokens {
  readonly admin: Buffer | null;
  readonly viewer: Buffer | null;
}

const SESSION = /^(admin|viewer)\.(\d{10})\.([\w-]{43})$/;

/** What is kept of a token. */
export const tokenDigest = (token: string): Buffer => createHash('sha256').update(token).digest();

/**
 * Turns tokens into sessions. A session is a signed statement of role and end, so that every replica that has the same
 * secrets accepts it and nothing is stored; changing a token ends the sessions of its role.
 */
export class OperatorAccess {
  constructor(
    private readonly tokens: OperatorTokens,
    private readonly pepper: string,
    private readonly nowMs: () => number = Date.now,
  ) {}

  /** Over the tokens and secrets of a platform. */
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

  /** What changes with the token of a role, for sessions that are kept elsewhere; null without a token. */
  checkOf(role: OperatorRole): Buffer | null {
    const token = this.tokens[role];
    return token && Buffer.from(hkdfSync('sha256', this.pepper, token, `console sessions of ${role}`, 32));
  }

  /** A session of a role, for a cookie. */
  open(role: OperatorRole): string {
    const ends = Math.floor(this.nowMs() / 1000) + SESSION_SECONDS;
    return `${role}.${ends}.${this.sign(role, ends)}`;
  }

  /** The role of a session; null when it is forged, over, or of a token that was changed. */
  read(session: string | undefined): OperatorRole | null {
    const parts = SESSION.exec(session ?? '');
    if (!parts) return null;
    const role = parts[1] as OperatorRole;
    const ends = Number(parts[2]);
    const genuine = timingSafeEqual(Buffer.from(parts[3] ?? ''), Buffer.from(this.sign(role, ends)));
    return genuine && ends * 1000 > this.nowMs() ? role : null;
  }

  private sign(role: OperatorRole, ends: number): string {
    const salt = this.tokens[role] ?? tokenDigest('');
    const key = Buffer.from(hkdfSync('sha256', this.pepper, salt, 'sessions of operators', 32));
    return createHmac('sha256', key).update(`${role}.${ends}`).digest('base64url');
  }
}
