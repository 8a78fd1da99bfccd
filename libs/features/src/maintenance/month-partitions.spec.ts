import { createTestDatabase, type TestDatabase } from '#testing';
import { UsageService } from '../billing/usage/usage.service.js';
import { DROP_LIMIT_MS, MonthPartitions } from './month-partitions.js';

/** Days that records are kept in these tests. */
const DAYS = 100;
const DAY_MS = 86_400_000;

const daysAgo = (days: number): Date => new Date(Date.now() - days * DAY_MS);
const dayOf = (time: Date): string => time.toISOString().slice(0, 10);
const monthOf = (time: Date): Date => new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), 1));
const partitionOf = (time: Date): string => `usage_record_${dayOf(time).slice(0, 7).replace('-', '_')}`;

/** The month that holds the limit, and the one before it. */
const LIMIT_MONTH = monthOf(daysAgo(DAYS));
const OLD = new Date(LIMIT_MONTH.getTime() - 12 * 3_600_000);
const OLDER = new Date(monthOf(OLD).getTime() - DAY_MS);

describe('Indexes that a version adds to months that are full', () => {
  it('are made one by one, once, by whichever workers, and new months have theirs at once', async () => {
    const test = await createTestDatabase();
    const rows = async (text: string): Promise<unknown[]> => (await test.database.query({ text })).rows;
    const months = new MonthPartitions(test.database);
    await rows('drop index usage_of_session');
    await rows('create index usage_of_session on only usage_record (session, account_id) where session is not null');
    await rows(`select ensure_month_partition('usage_record', '2031-04-01')`);
    const valid = `select indisvalid as valid from pg_index where indexrelid = 'usage_of_session'::regclass`;
    expect(await rows(valid)).toEqual([{ valid: false }]);
    await Promise.all([months.ensureIndexes(), months.ensureIndexes()]);
    await months.ensureIndexes();
    expect(await rows(valid)).toEqual([{ valid: true }]);
    const made = `select indexrelid::regclass::text as name from pg_index where pg_get_indexdef(indexrelid) like '%(session, account_id) WHERE (session IS NOT NULL)'`;
    const parts = await rows(`select from pg_inherits where inhparent = 'usage_record'::regclass`);
    expect(await rows(made)).toHaveLength(parts.length + 1);
    await test.remove();
  });
});

describe('Months of records past their retention', () => {
  let test: TestDatabase;
  let months: MonthPartitions;
  let number = 0;
  beforeEach(async () => {
    test = await createTestDatabase();
    months = new MonthPartitions(test.database);
    await run(`insert into account (id, name) values ('acct', 'a')`);
  });
  afterEach(() => test.remove());

  const run = async <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
    (await test.database.query<Row>({ text, values })).rows;
  const ensure = (time: Date) => run(`select ensure_month_partition('usage_record', $1)`, dayOf(time));

  async function record(createdAt: Date): Promise<string> {
    const id = `usage_${String((number += 1))}`;
    await run(
      `insert into usage_record (id, created_at, account_id, api_key_id, kind, model, request_id, status, amount_micros, lines)
        values ($1, $2, 'acct', 'key', 'text', 'm', 'r', 'completed', 7, '[]')`,
      id,
      createdAt,
    );
    await run(
      `insert into usage_daily as d (account_id, day, model, api_key_id, kind, requests, amount_micros)
        values ('acct', $1, 'm', 'key', 'text', 1, 7)
        on conflict (account_id, day, model, api_key_id) do update set requests = d.requests + 1`,
      dayOf(createdAt),
    );
    return id;
  }

  const kept = async (): Promise<string[]> =>
    (await run<{ id: string }>('select id from usage_record order by created_at')).map(({ id }) => id);

  it('are dropped when their last day is older than the limit, and the month of the limit stays', async () => {
    for (const month of [OLDER, OLD, LIMIT_MONTH]) await ensure(month);
    await record(OLDER);
    await record(OLD);
    const stays = [await record(LIMIT_MONTH), await record(daysAgo(DAYS)), await record(daysAgo(0))];
    expect(await months.dropOlder('usage_record', DAYS)).toEqual([partitionOf(OLDER), partitionOf(OLD)]);
    expect(await kept()).toEqual(expect.arrayContaining(stays));
    expect(await kept()).toHaveLength(stays.length);
    expect(await months.dropOlder('usage_record', DAYS)).toEqual([]);
  });

  it('are still counted in the daily sums, while the list of records begins after them', async () => {
    await ensure(OLD);
    await record(OLD);
    const newest = await record(daysAgo(1));
    await months.dropOlder('usage_record', DAYS);
    const usage = new UsageService(test.database);
    const query = { accountId: 'acct', from: dayOf(OLD), to: dayOf(daysAgo(0)) };
    expect(await usage.sums(query, ['day'])).toMatchObject([
      { day: dayOf(daysAgo(1)), amount_micros: 7n },
      { day: dayOf(OLD), amount_micros: 7n },
    ]);
    const records = await usage.records(query, { limit: 10, cursor: null });
    expect(records).toMatchObject({ items: [{ id: newest }], nextCursor: null });
  });

  it('are also dropped when their rows were written before their partition was created', async () => {
    await record(OLD);
    await record(OLDER);
    const stays = await record(daysAgo(0));
    for (let round = 0; round < 2; round += 1) await months.dropOlder('usage_record', DAYS);
    expect(await kept()).toEqual([stays]);
  });

  it('stay forever when the limit is 0', async () => {
    await ensure(OLDER);
    const stays = await record(OLDER);
    expect(await months.dropOlder('usage_record', 0)).toEqual([]);
    expect(await kept()).toEqual([stays]);
  });

  it('wait for the users of the table, and block no writer for longer than they wait', async () => {
    await ensure(OLD);
    await record(OLD);
    await record(daysAgo(0));
    const longestMs = await test.database.transaction(async (reader) => {
      await reader.query({ text: 'select count(*) from usage_record' });
      let longest = 0;
      const over = new AbortController();
      const dropping = months.dropOlder('usage_record', DAYS).finally(() => over.abort());
      while (!over.signal.aborted) {
        const beganAt = performance.now();
        await record(daysAgo(0));
        longest = Math.max(longest, performance.now() - beganAt);
      }
      expect(await dropping).toEqual([]);
      return longest;
    });
    // Without a limit they would wait for the reader's end, which waits for the drop: forever. The rest is for busy machines.
    expect(longestMs).toBeLessThan(DROP_LIMIT_MS + 20_000);
    expect(await months.dropOlder('usage_record', DAYS)).toEqual([partitionOf(OLD)]);
  });

  it('are dropped once by concurrent replicas, while others write', async () => {
    for (const month of [OLDER, OLD]) await ensure(month);
    await record(OLD);
    const cleaning = [1, 2, 3].map(() => months.dropOlder('usage_record', DAYS));
    const writing = [1, 2, 3, 4].map(() => record(daysAgo(0)));
    const dropped = (await Promise.all(cleaning)).flat();
    const written = await Promise.all(writing);
    await months.dropOlder('usage_record', DAYS);
    expect(new Set(dropped).size).toBe(dropped.length);
    expect((await kept()).sort()).toEqual(written.sort());
  });

  it('of the audit have a limit of their own', async () => {
    await run(`select ensure_month_partition('audit_record', $1)`, dayOf(OLD));
    for (const createdAt of [OLD, daysAgo(0)]) {
      await run(
        `insert into audit_record (id, created_at, actor, action, subject_type, subject_id, request_id)
          values ('audit_' || $1::text, $1::text::timestamptz, 'admin', 'key.revoked', 'key', 'k', 'r')`,
        createdAt.toISOString(),
      );
    }
    expect(await months.dropOlder('audit_record', DAYS)).toHaveLength(1);
    expect(await run('select from audit_record')).toHaveLength(1);
  });
});
