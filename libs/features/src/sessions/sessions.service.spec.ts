import { createTestDatabase, type TestDatabase } from '#testing';
import { ConsoleKeys } from '../accounts/api-key.js';
import { type SessionOwner, SessionsService } from './sessions.service.js';

describe('The sessions of the console', () => {
  let test: TestDatabase;
  let sessions: SessionsService;
  beforeAll(async () => {
    test = await createTestDatabase();
    sessions = new SessionsService(test.database, new ConsoleKeys(test.database));
    await test.database.query({ text: `insert into account (id, name) values ('acct_ada', '')` });
    await test.database.query({
      text: `insert into api_key (id, account_id, name, prefix, key_hash)
        select 'key_' || n, 'acct_ada', '', 'sk', decode(lpad(n::text, 2, '0'), 'hex') from generate_series(1, 2) n`,
    });
    await test.database.query({
      text: `insert into console_user (id, name, email) values ('user_ada', 'Ada', 'a@b.c')`,
    });
  });
  afterAll(() => test.remove());

  it.each<[string, SessionOwner]>([
    ['an API key', { apiKeyId: 'key_1', accountId: 'acct_ada', keyHash: Buffer.from([1]) }],
    ['a person', { userId: 'user_ada' }],
  ])('are at most 100 of %s: a further one ends the oldest, and none of others', async (_whose, owner) => {
    const open = (by: SessionOwner): Promise<string> =>
      sessions.open('api_key', by, { address: undefined, agent: undefined }, false);
    const other = await open({ apiKeyId: 'key_2', accountId: 'acct_ada', keyHash: Buffer.from([2]) });
    const tokens: string[] = [];
    for (let opened = 0; opened < 102; opened += 1) tokens.push(await open(owner));
    const isOpen = async (token: string | undefined): Promise<boolean> => (await sessions.read(token ?? '')) !== null;
    expect(await Promise.all([0, 1, 2, 101].map((nth) => isOpen(tokens[nth])))).toEqual([false, false, true, true]);
    expect(await isOpen(other)).toBe(true);
  });
});
