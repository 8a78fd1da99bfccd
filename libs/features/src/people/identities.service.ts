import { Injectable } from '@nestjs/common';
import { Database } from '#platform';
import type { ProvedIdentity } from './identity-provider.js';

/** Maps identities of the identity provider to users. */
@Injectable()
export class IdentitiesService {
  constructor(private readonly database: Database) {}

  /** The user who accepted an invitation with this identity; null when there is none, or it is disabled. */
  async userOf({ issuer, subject }: ProvedIdentity): Promise<string | null> {
    const { consoleIdentity } = await this.database.models();
    const known = await consoleIdentity.findUnique({
      where: { issuer_subject: { issuer, subject }, user: { disabledAt: null } },
    });
    return known?.userId ?? null;
  }
}
