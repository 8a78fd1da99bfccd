import { createTestDatabase, eventually, type TestDatabase } from '#testing';
import { OpenHolds, RequestLedger } from './request-ledger.js';

describe('Holds of running requests', () => {
  let test: TestDatabase;
  let ledger: RequestLedger;

  beforeAll(async () => {
    test = await createTestDatabase();
    ledger = new RequestLedger(test.database);
    await test.database.query({
      text: `insert into account (id, name, available_micros) values ('acct', 'a', 1000)`,
    });
    await test.database.query({
      text: `insert into api_key (id, account_id, name, prefix, key_hash) values ('key', 'acct', 'k', 'sk', 'k')`,
    });
  });
  afterAll(() => test.remove());

  async function hold(requestId: string): Promise<void> {
    await ledger.hold({ accountId: 'acct', apiKeyId: 'key', requestId, amountMicros: 10n });
    await test.database.query({
      text: `update request_hold set expires_at = now() - interval '1 second' where request_id = $1`,
      values: [requestId],
    });
  }

  async function isExpired(requestId: string): Promise<boolean | undefined> {
    const text = 'select expires_at <= now() as expired from request_hold where request_id = $1';
    return (await test.database.query<{ expired: boolean }>({ text, values: [requestId] })).rows[0]?.expired;
  }

  it('are extended repeatedly until the request ends', async () => {
    await hold('req_long');
    await hold('req_over');
    const holds = new OpenHolds(test.database, 60, 20);
    holds.add('req_over');
    holds.remove('req_over');
    holds.add('req_long');
    await eventually(async () => !(await isExpired('req_long')));
    holds.remove('req_long');
    expect([await isExpired('req_long'), await isExpired('req_over')]).toEqual([false, true]);
  });

  it('are released although one before them cannot be', async () => {
    await hold('req_broken');
    await hold('req_sound');
    // A release that was entered before makes this one break a unique index.
    await test.database.query({
      text: `insert into ledger_entry (account_id, request_id, kind, debit, credit, amount_micros)
        values ('acct', 'req_broken', 'release', 'held', 'available', 10)`,
    });
    await test.database.query({
      text: `update request_hold set expires_at = '-infinity' where request_id = 'req_broken'`,
    });
    expect(await ledger.releaseAbandoned()).toBeGreaterThanOrEqual(1);
    expect([await isExpired('req_broken'), await isExpired('req_sound')]).toEqual([true, undefined]);
  });
});
