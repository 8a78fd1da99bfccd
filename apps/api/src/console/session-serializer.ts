import { Inject, Injectable } from '@nestjs/common';
import type { ConsoleSession } from '#contracts';
import { type OpenSession, PasskeysService, PeopleService, SESSION_IDLE_HOURS } from '#features';
import { PLATFORM, type Platform, SANDBOX_MAY_SELL } from '#runtime';

const HOUR_MS = 3_600_000;

/** How long a renewed proof of identity is valid, in milliseconds. */
export const PROOF_MS = 15 * 60_000;

/** The signed-in session, in the form every sign-in returns. */
@Injectable()
export class SessionSerializer {
  constructor(
    private readonly people: PeopleService,
    private readonly passkeys: PasskeysService,
    @Inject(PLATFORM) private readonly platform: Platform,
    @Inject(SANDBOX_MAY_SELL) private readonly sandbox: boolean,
  ) {}

  async of(session: OpenSession): Promise<ConsoleSession> {
    const { user, provedAt, seenAt, expiresAt } = session;
    const [memberships, passkeys] = user
      ? await Promise.all([this.people.membershipsOf(user.id), this.passkeys.countOf(user.id)])
      : [[], 0];
    return {
      id: session.id,
      method: session.method,
      user: user && {
        id: user.id,
        name: user.name,
        email: user.email,
        has_password: user.hasPassword,
        passkeys,
      },
      account: session.account,
      roles: session.roles,
      permissions: [...session.permissions],
      memberships,
      currency: this.platform.config.server.BALANCE_UNIT,
      proved_until: provedUntil(provedAt),
      proofs: proofsOf(session, passkeys > 0),
      started_at: session.startedAt.toISOString(),
      idle_ends_at: new Date(
        Math.min(seenAt.getTime() + SESSION_IDLE_HOURS * HOUR_MS, expiresAt.getTime()),
      ).toISOString(),
      ends_at: expiresAt.toISOString(),
      sandbox: this.sandbox,
    };
  }
}

function provedUntil(provedAt: Date | null): string | null {
  const endsMs = (provedAt?.getTime() ?? 0) + PROOF_MS;
  return endsMs > Date.now() ? new Date(endsMs).toISOString() : null;
}

function proofsOf({ user, operator }: OpenSession, hasPasskey: boolean): ConsoleSession['proofs'] {
  if (operator) return ['operator_token'];
  return [...(user?.hasPassword ? (['password'] as const) : []), ...(hasPasskey ? (['passkey'] as const) : [])];
}
