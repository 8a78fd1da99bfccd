import { Database } from '#platform';
import { createTestDatabase, type TestDatabase } from '#testing';
import { UsageService } from './usage.service.js';

describe('Records of usage', () => {
  let test: TestDatabase;
  let abroad: Database;
  beforeAll(async () => {
    test = await createTestDatabase();
    const name = new URL(test.url).pathname.slice(1);
    await test.database.query({ text: `alter database ${name} set timezone = 'America/New_York'` });
    abroad = new Database(test.url);
    await abroad.query({
      text: `insert into usage_record (id, created_at, account_id, api_key_id, kind, model, request_id, status, amount_micros, lines)
        select 'usage_' || row_number() over (), time::timestamptz, 'a', 'k', 'text', 'm', 'r', 'completed', 1, '[]'
        from unnest(array['2031-03-14T23:59:59.999999Z', '2031-03-15T00:00:00Z', '2031-03-15T23:59:59.999999Z',
          '2031-03-16T00:00:00Z']) as time`,
    });
  });
  afterAll(async () => {
    await abroad.close();
    await test.remove();
  });

  it('are grouped by UTC days, whatever the time zone of the session', async () => {
    const query = { accountId: 'a', from: '2031-03-15', to: '2031-03-15' };
    const { items } = await new UsageService(abroad).records(query, { limit: 10, cursor: null });
    expect(items.map(({ time }) => time)).toEqual(['2031-03-15T23:59:59.999999Z', '2031-03-15T00:00:00.000000Z']);
  });
});
