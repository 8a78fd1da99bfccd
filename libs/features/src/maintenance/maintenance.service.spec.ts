import { createTestDatabase, type TestDatabase } from '#testing';

describe('Partitions of a month', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.remove());

  async function record(id: string, createdAt: string): Promise<void> {
    await test.database.query({
      text: `insert into usage_record (id, created_at, account_id, api_key_id, kind, model, request_id, status, amount_micros, lines)
        values ($1, $2, 'a', 'k', 'image', 'm', 'r', 'completed', 0, '[]')`,
      values: [id, createdAt],
    });
  }

  async function placeOf(id: string): Promise<string | undefined> {
    const text = 'select tableoid::regclass::text as place from usage_record where id = $1';
    return (await test.database.query<{ place: string }>({ text, values: [id] })).rows[0]?.place;
  }

  const ensure = (month: string) =>
    test.database.query({ text: `select ensure_month_partition('usage_record', $1)`, values: [month] });

  it('are made although records of the month came before them, and take those in', async () => {
    await record('usage_early', '2031-03-15T12:00:00Z');
    expect(await placeOf('usage_early')).toBe('usage_record_other');
    await ensure('2031-03-20');
    expect(await placeOf('usage_early')).toBe('usage_record_2031_03');
  });

  it('begin and end by UTC, whatever the time zone of the session that makes them', async () => {
    await test.database.transaction(async (transaction) => {
      await transaction.query({ text: `set local timezone = 'America/New_York'` });
      await transaction.query({ text: `select ensure_month_partition('usage_record', '2031-06-10')` });
    });
    await record('usage_first', '2031-06-01T00:00:00Z');
    await record('usage_last', '2031-06-30T23:59:59Z');
    await record('usage_next', '2031-07-01T00:00:00Z');
    expect(await Promise.all(['usage_first', 'usage_last', 'usage_next'].map(placeOf))).toEqual([
      'usage_record_2031_06',
      'usage_record_2031_06',
      'usage_record_other',
    ]);
  });

  it('are made once by processes that make them at the same time', async () => {
    await expect(Promise.all([1, 2, 3, 4].map(() => ensure('2032-01-01')))).resolves.toHaveLength(4);
  });
});
