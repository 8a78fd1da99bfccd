import { Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { Database, timeOrderedId } from '#platform';

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
