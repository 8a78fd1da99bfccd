import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database, SecretSealer } from '#platform';
import { hashOfCode } from './password.js';

/** What the answer to a challenge opens; it counts for nothing else. */
export type ChallengePurpose = 'sign-in' | 'proof' | 'new-passkey';

/** The owner and purpose of a challenge. `userId`: null where the answer signs the user in. */
export interface ChallengeOwner {
  readonly purpose: ChallengePurpose;
  readonly userId: string | null;
}

const LIFETIME_MS = 5 * 60_000;
const BYTES = 32;

const USE = `
insert into used_challenge (challenge_hash, expires_at) values ($1, $2) on conflict (challenge_hash) do nothing returning 1`;

/**
 * Challenges that an authenticator signs. The browser keeps each, sealed, until it answers, so that requests of strangers
 * write nothing; an answered one is recorded and counts once.
 */
@Injectable()
export class Challenges {
  constructor(
    private readonly database: Database,
    private readonly sealer: SecretSealer,
  ) {}

  /** A challenge for 5 minutes: its bytes, and under which id it is answered. */
  issue(owner: ChallengeOwner): { readonly bytes: Uint8Array<ArrayBuffer>; readonly id: string } {
    const bytes = new Uint8Array(randomBytes(BYTES));
    const sealed = this.sealer.seal(
      JSON.stringify([Buffer.from(bytes).toString('base64url'), Date.now() + LIFETIME_MS]),
      nameOf(owner),
    );
    return { bytes, id: sealed.toString('base64url') };
  }

  /** The challenge, in base64url; null when it is another one's, for something else, changed or over. */
  open(id: string, owner: ChallengeOwner): string | null {
    const known = this.read(id, owner);
    return known && known.expiresAtMs > Date.now() ? known.challenge : null;
  }

  /** Takes an answered challenge; false when it was taken before. */
  async use(challenge: string): Promise<boolean> {
    const values = [hashOfCode(challenge), new Date(Date.now() + LIFETIME_MS)];
    return (await this.database.query({ text: USE, values })).rows.length === 1;
  }

  private read(id: string, owner: ChallengeOwner): { challenge: string; expiresAtMs: number } | null {
    try {
      const text = this.sealer.open(Buffer.from(id, 'base64url'), nameOf(owner));
      const [challenge, expiresAtMs] = JSON.parse(text) as [string, number];
      return { challenge, expiresAtMs };
    } catch {
      // What we did not seal does not open.
      return null;
    }
  }
}

const nameOf = ({ purpose, userId }: ChallengeOwner): string => `challenge ${purpose} ${userId ?? ''}`;
