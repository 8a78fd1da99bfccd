import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '#testing';
import { SpendLimits } from '../ledger/spend-limits.js';
import { type UsageGroup, ZONED_DAYS_MAX } from './usage-sums.js';
import { UsageService, type UsageSum } from './usage.service.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** With half hours, summer time, and both ends of the date line. */
const ZONES = ['Asia/Shanghai', 'Asia/Kolkata', 'America/New_York', 'America/St_Johns', 'Pacific/Apia', 'Pacific/Niue'];

interface Sample {
  readonly agoHours: number;
  readonly model: string;
  readonly amount: number;
  readonly status: string;
  readonly tags: readonly string[];
}

const samples = fc.array(
  fc.record<Sample>({
    agoHours: fc.double({ min: 0, max: 45 * 24, noNaN: true }),
    model: fc.constantFrom('a', 'b'),
    amount: fc.integer({ min: 0, max: 1_000 }),
    status: fc.constantFrom('completed', 'failed', 'refunded'),
    tags: fc.subarray(['x', 'y', 'unplaced']),
  }),
  { minLength: 1, maxLength: 40 },
);
const GROUPINGS: readonly (readonly UsageGroup[])[] = [
  [],
  ['day'],
  ['day', 'model'],
  ['model'],
  ['tag'],
  ['day', 'tag'],
];

const dayIn = (timeZone: string, ms: number): string => new Intl.DateTimeFormat('sv-SE', { timeZone }).format(ms);

describe('The days of a time zone', () => {
  let test: TestDatabase;
  let number = 0;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.remove());

  const run = async <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
    (await test.database.query<Row>({ text, values })).rows;

  async function customer(timeZone: string | null, limits = false): Promise<string> {
    const id = `acct_${++number}`;
    // Refunds are of what was used before.
    await run('insert into account (id, name, time_zone, used_micros) values ($1, $1, $2, 1000000)', id, timeZone);
    await run(
      `insert into api_key (id, account_id, name, prefix, key_hash, used_micros) values ('key_' || $1, $1, 'k', 'sk', $2, 1000000)`,
      id,
      Buffer.from(id),
    );
    await run(`insert into account_tag (account_id, tag, place) values ($1, 'x', 1), ($1, 'y', 2)`, id);
    if (limits) {
      const text = `insert into tag_limit (account_id, tag, daily_limit_micros, monthly_limit_micros) values ($1, 'x', 1, 1)`;
      await run(text, id);
    }
    if (limits)
      for (const table of ['account', 'api_key'])
        await run(
          `update ${table} set daily_limit_micros = 1000000, monthly_limit_micros = 1000000
            where ${table === 'account' ? 'id' : 'account_id'} = $1`,
          id,
        );
    return id;
  }

  /** As settlements write it: the record, and the sums of the day of UTC. */
  async function use(id: string, at: Date, { model, amount, status, tags }: Omit<Sample, 'agoHours'>): Promise<void> {
    const charged = status === 'refunded' ? -amount : amount;
    const counted = [status === 'refunded' ? 0 : 1, status === 'failed' ? 1 : 0, charged, 5];
    await run(
      `insert into usage_record (id, account_id, api_key_id, kind, model, request_id, status, amount_micros, lines, input_tokens,
        created_at, tags) values ($1, $2, 'key_' || $2, 'text', $3, $1, $4, $5, '[]', 5, $6, $7)`,
      `usage_${++number}`,
      id,
      model,
      status,
      charged,
      at,
      tags,
    );
    const add = (table: string, columns: string, values: string) =>
      `insert into ${table} as d (account_id, day, requests, failed_requests, amount_micros, input_tokens, ${columns})
        values ($1, $2::date, $3, $4, $5, $6, ${values})
        on conflict (account_id, day, ${table === 'usage_daily' ? 'model, api_key_id' : 'tag'}) do update
        set requests = d.requests + excluded.requests, failed_requests = d.failed_requests + excluded.failed_requests,
          amount_micros = d.amount_micros + excluded.amount_micros, input_tokens = d.input_tokens + excluded.input_tokens`;
    const day = at.toISOString().slice(0, 10);
    const daily = add('usage_daily', 'model, api_key_id, kind', `$7, 'key_' || $1, 'text'`);
    await run(daily, id, day, ...counted, model);
    for (const tag of new Set(tags.map((each) => (each === 'unplaced' ? 'other' : each))))
      await run(add('usage_daily_by_tag', 'tag', '$7'), id, day, ...counted, tag);
    await run('update account set used_micros = used_micros + $2 where id = $1', id, charged);
    await run('update api_key set used_micros = used_micros + $2 where account_id = $1', id, charged);
  }

  const keyOf = ({ day, model, tag }: Pick<UsageSum, 'day' | 'model' | 'tag'>): string => [day, model, tag].join('|');

  it('have the sums of their records, however they are kept apart', async () => {
    await fc.assert(
      fc.asyncProperty(
        samples,
        fc.constantFrom(...ZONES),
        fc.constantFrom(...GROUPINGS),
        fc.nat({ max: 40 }),
        fc.nat({ max: ZONED_DAYS_MAX - 1 }),
        async (used, timeZone, groups, ago, days) => {
          const now = Date.now();
          const [accountId, to] = [await customer(timeZone), dayIn(timeZone, now - ago * DAY_MS)];
          const from = new Date(Date.parse(to) - days * DAY_MS).toISOString().slice(0, 10);
          const expected = new Map<string, readonly bigint[]>();
          for (const { agoHours, ...sample } of used) {
            const at = new Date(now - agoHours * HOUR_MS);
            await use(accountId, at, sample);
            const day = dayIn(timeZone, at.getTime());
            if (day < from || day > to) continue;
            const tags = groups.includes('tag')
              ? sample.tags.map((tag) => (tag === 'unplaced' ? 'other' : tag))
              : [null];
            for (const tag of tags) {
              const key = keyOf({
                day: groups.includes('day') ? day : null,
                model: groups.includes('model') ? sample.model : null,
                tag,
              });
              const [requests, failed, amount, tokens] = expected.get(key) ?? [0n, 0n, 0n, 0n];
              const isRefund = sample.status === 'refunded';
              expected.set(key, [
                requests! + (isRefund ? 0n : 1n),
                failed! + (sample.status === 'failed' ? 1n : 0n),
                amount! + BigInt(isRefund ? -sample.amount : sample.amount),
                tokens! + 5n,
              ]);
            }
          }
          const sums = await new UsageService(test.database).sums({ accountId, from, to, timeZone }, groups);
          const found = sums.filter(({ input_tokens: tokens }) => tokens > 0n);
          expect(
            new Map(
              found.map((sum) => [
                keyOf(sum),
                [sum.requests, sum.failed_requests, sum.amount_micros, sum.input_tokens],
              ]),
            ),
          ).toEqual(expected);
        },
      ),
      { numRuns: 20, seed: 7, includeErrorInReport: true },
    );
  });

  it('are at most 31 where they are kept apart, and as many as one likes where they are not', async () => {
    const usage = new UsageService(test.database);
    const query = {
      accountId: await customer('Asia/Kolkata'),
      from: '2026-01-01',
      to: '2026-12-31',
      timeZone: 'Asia/Kolkata',
    };
    await expect(usage.sums(query, ['day'])).rejects.toMatchObject({ param: 'group_by' });
    expect(await usage.sums(query, ['model'])).toEqual([]);
  });

  it.each([...ZONES, null])('begin and end the limits of account, key and tag: %s', async (timeZone) => {
    const id = await customer(timeZone, true);
    const limits = new SpendLimits(test.database);
    const [{ day, month, day_ends: dayEnds, month_ends: monthEnds }] = (await run(
      `select date_trunc('day', now() at time zone z) at time zone z as day, date_trunc('month', now() at time zone z) at time zone z as month,
        (date_trunc('day', now() at time zone z) + interval '1 day') at time zone z as day_ends,
        (date_trunc('month', now() at time zone z) + interval '1 month') at time zone z as month_ends from (select $1::text as z) zone`,
      timeZone ?? 'UTC',
    )) as [Record<string, Date>];
    const sample = { model: 'a', status: 'completed', tags: ['x'] };
    await use(id, new Date(month!.getTime() - 1), { ...sample, amount: 1 });
    await use(id, month!, { ...sample, amount: 10 });
    await use(id, new Date(day!.getTime() - 1), { ...sample, amount: 100 });
    await use(id, day!, { ...sample, amount: 1_000 });
    // On the first of a month both begin at once, and what comes before the day comes before the month too.
    const isFirst = day!.getTime() === month!.getTime();
    const expected = isFirst ? [1_010n, 1_010n] : [1_000n, 1_110n];
    const spent = async () => {
      const found = [
        (await limits.ofAccounts([id])).get(id) ?? [],
        (await limits.ofKeys([`key_${id}`])).get(`key_${id}`) ?? [],
      ];
      return found.map((each) => each.map(({ spentMicros, resetsAt }) => [spentMicros, resetsAt]));
    };
    const each = [
      [expected[0], dayEnds],
      [expected[1], monthEnds],
    ];
    expect(await spent()).toEqual([each, each]);
    const ofTag = async () =>
      (await run(`select tag_spent($1, 'x', 'day') as day, tag_spent($1, 'x', 'month') as month`, id))[0];
    expect(await ofTag()).toEqual({ day: expected[0], month: expected[1] });
    await limits.mark();
    await limits.mark();
    expect([await spent(), await ofTag()]).toEqual([[each, each], { day: expected[0], month: expected[1] }]);
    await use(id, new Date(), { ...sample, amount: 5 });
    expect(await ofTag()).toEqual({ day: expected[0]! + 5n, month: expected[1]! + 5n });
    const later = each.map(([amount, ends]) => [(amount as bigint) + 5n, ends]);
    expect(await spent()).toEqual([later, later]);
    // A process of the version before marks the day of UTC, and leaves what it does not know.
    await run(
      `update spend_mark set started_on = started_on + 1, base_micros = base_micros + 7 where subject_id = $1`,
      id,
    );
    expect(await spent()).toEqual([later, later]);
    // Holds wait for what a tag has spent: with a mark, none of its records is read.
    await run('update usage_record set amount_micros = 0 where account_id = $1', id);
    expect(await ofTag()).toEqual({ day: expected[0]! + 5n, month: expected[1]! + 5n });
  });

  it.each([
    ['Atlantic/Azores', '2026-10-25', '2026-10-25T00:00:00Z'],
    ['America/Havana', '2026-11-01', '2026-11-01T04:00:00Z'],
  ])('begin at the first of two midnights, and are a day of 25 hours: %s', async (zone, day, begins) => {
    const [id, start] = [await customer(zone), Date.parse(begins)];
    const end = new Date(start + 25 * HOUR_MS);
    for (const after of [0, HOUR_MS / 2, HOUR_MS, 1.5 * HOUR_MS, 25 * HOUR_MS - 1]) {
      const at = new Date(start + after);
      const text = `select period_start($1, 'day', $2) as start, period_end($1, 'day', $2) as end`;
      expect([after, await run(text, id, at)]).toEqual([after, [{ start: new Date(start), end }]]);
    }
    const [before] = await run(`select period_end($1, 'day', $2) as end`, id, new Date(start - 1));
    expect(before).toEqual({ end: new Date(start) });
    for (const after of [-1, 0, 1.5 * HOUR_MS, 25 * HOUR_MS])
      await use(id, new Date(start + after), { model: 'a', status: 'completed', tags: [], amount: 1 });
    const usage = new UsageService(test.database);
    const query = { accountId: id, from: day, to: day, timeZone: zone };
    for (const groups of [['day'], ['model']] as const)
      expect(await usage.sums(query, groups)).toMatchObject([{ requests: 2n, amount_micros: 2n }]);
  });

  it('begin where clocks are set forward over midnight when they show one again', async () => {
    const text = `select moment_of('2026-03-08 00:00', 'America/Havana') as moment`;
    expect(await run(text)).toEqual([{ moment: new Date('2026-03-08T05:00:00Z') }]);
  });
});
