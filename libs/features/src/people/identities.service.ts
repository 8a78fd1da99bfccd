import { Injectable } from '@nestjs/common';
import { Database } from '#platform';
import type { ProvedIdentity } from './identity-provider.js';

/** Who the people of the identity provider are here. */
@Injectable()
export class IdentitiesService {
  constructor(private readonly database: Database) {}

  /** The user who took an invitation with this identity; null when nobody did, or they were disabled. */
  async userOf({ issuer, subject }: ProvedIdentity): Promise<string | null> {
    const { consoleIdentity } = await this.database.models();
    const known = await consoleIdentity.findUnique({
      where: { issuer_subject: { issuer, subject }, user: { disabledAt: null } },
    });
    return known?.userId ?? null;
  }
}
