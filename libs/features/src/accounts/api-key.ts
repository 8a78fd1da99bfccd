import { createHmac, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database, timeOrderedId } from '#platform';

/** How much of a key stays visible to people, so that they can tell their keys apart. */
const VISIBLE_CHARACTERS = 12;

/** A fresh key: `sk-gw-` and 256 random bits. Shown once, never stored. */
export const newApiKey = (): string => `sk-gw-${randomBytes(32).toString('base64url')}`;

/** The part of a key that may be shown and stored; at most half of it, so that a short key is not given away. */
export const visiblePrefix = (key: string): string =>
  key.slice(0, Math.min(VISIBLE_CHARACTERS, Math.floor(key.length / 2)));

/** What is stored and looked up instead of a key: its keyed hash. Useless without the pepper, which is not in the database. */
export const hashApiKey = (key: string, pepper: string): Buffer => createHmac('sha256', pepper).update(key).digest();

/** Its hash is that of nothing: it opens no route. */
const ADD = `
insert into api_key (id, account_id, name, prefix, key_hash, kind) values ($1, $2, 'Console', 'console', $3, 'console')
on conflict (account_id) where kind = 'console' do nothing`;

/** The key that runs of the console are charged to, one for each account. It is limited like any other. */
@Injectable()
export class ConsoleKeys {
  constructor(private readonly database: Database) {}

  /** Makes it unless it is there. */
  async ensure(accountId: string): Promise<void> {
    await this.database.query({ text: ADD, values: [timeOrderedId('key'), accountId, randomBytes(32)] });
  }
}
