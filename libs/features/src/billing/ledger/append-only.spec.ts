import { createTestDatabase, type TestDatabase } from '#testing';
import { LedgerService } from './ledger.service.js';

describe('The entries of the ledger', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
    await test.database.query({ text: `insert into account (id, name) values ('acct', 'a')` });
    const topUp = { accountId: 'acct', amountMicros: 1_000n, reference: 'r', note: null };
    await new LedgerService(test.database).topUp(topUp);
  });
  afterAll(() => test.remove());

  it.each([
    'update ledger_entry set amount_micros = 1',
    `update ledger_entry set note = 'x'`,
    'delete from ledger_entry',
  ])('are never changed: the database refuses "%s"', async (text) => {
    await expect(test.database.query({ text })).rejects.toThrow('ledger entries are never changed');
    const { rows } = await test.database.query({ text: 'select amount_micros, note from ledger_entry' });
    expect(rows).toEqual([{ amount_micros: 1_000n, note: null }]);
  });
});
