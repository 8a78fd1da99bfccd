import { timeOrderedId } from '#platform';
import { eventually } from '#testing';
import { FakeVendor } from '../../tasks/run/testing/fake-vendor.js';
import { HOLD_MICROS, openTaskBench, type TaskBench } from '../../tasks/run/testing/task-bench.js';
import { ReservationLedger } from '../ledger/reservation-ledger.js';
import { RequestLedger } from '../ledger/request-ledger.js';
import type { RequestUsage } from '../ledger/request-usage.js';
import { UsageDaysService } from './usage-days.service.js';
import { UsageService, type UsageSum } from './usage.service.js';

const DAY_MS = 86_400_000;
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

/** Every way to keep sums apart. */
const GROUPS = ['day', 'model', 'key', 'account'] as const;
const GROUPINGS: readonly (typeof GROUPS)[number][][] = Array.from({ length: 2 ** GROUPS.length }, (_, chosen) =>
  GROUPS.filter((_group, index) => (chosen >> index) % 2 === 1),
);

const COLUMN = {
  day: `to_char(created_at at time zone 'utc', 'YYYY-MM-DD')`,
  model: 'model',
  key: 'api_key_id',
  account: 'account_id',
};

describe('Days of usage', () => {
  let bench: TaskBench;
  let usage: UsageService;
  let days: UsageDaysService;
  let requests: RequestLedger;
  let reservations: ReservationLedger;
  beforeEach(async () => {
    bench = await openTaskBench(new FakeVendor());
    usage = new UsageService(bench.database);
    days = new UsageDaysService(bench.database);
    requests = new RequestLedger(bench.database);
    reservations = new ReservationLedger(bench.database);
    await run(`insert into account (id, name, available_micros) values ('acct_2', 'second', 1000000000)`);
    await run(`insert into api_key (id, account_id, name, prefix, key_hash)
      values ('key_2', 'acct_2', 'k', 'sk', '2'), ('key_3', 'acct_2', 'k', 'sk', '3')`);
  });
  afterEach(() => bench.close());

  const run = async <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
    (await bench.database.query<Row>({ text, values })).rows;

  /** One of each way that work is paid for: tasks, requests with holds of their own, and one that draws on a reservation. */
  async function work(turn: number): Promise<void> {
    await bench.settlement.cancelUnstarted(await bench.submit());
    const taskId = await bench.submit();
    await bench.change(taskId, `state = 'submitting'`);
    await bench.change(taskId, `state = 'running', lease_until = null`);
    await bench.change(taskId, `state = 'storing', lease_until = now() + interval '1 minute'`);
    const completion = { chargeMicros: HOLD_MICROS, quantity: 1, files: [], resultTtlSeconds: null, notices: [] };
    await bench.settlement.complete(await bench.row(taskId), completion);
    for (const apiKeyId of ['key_2', 'key_3']) {
      const requestId = timeOrderedId('req');
      await requests.hold({ accountId: 'acct_2', apiKeyId, requestId, amountMicros: 100n });
      await requests.capture({ requestId, chargeMicros: BigInt(turn), heldMicros: 100n, usage: usageOf(turn) });
    }
    const payer = { accountId: 'acct_2', apiKeyId: 'key_2', wantedMicros: 1_000n, leastMicros: 100n };
    const { id: reservationId = '' } = (await reservations.open(payer)) ?? {};
    const requestId = timeOrderedId('req');
    await reservations.capture({ reservationId, requestId, chargeMicros: BigInt(turn), usage: usageOf(turn) });
    await reservations.close([reservationId]);
  }

  /** Makes everything so far a day older. */
  async function passNight(): Promise<void> {
    await run(`update usage_record set created_at = created_at - interval '1 day'`);
    // In two leaps, so that no row passes over one that is still to be moved.
    await run(`update usage_daily set day = day - 1001`);
    await run(`update usage_daily set day = day + 1000`);
  }

  /** The same sums, from each record. */
  async function sumsOfRecords(
    groups: readonly (typeof GROUPS)[number][],
    accountId: string | null = null,
  ): Promise<UsageSum[]> {
    const shown = GROUPS.map((group) => {
      const name = { day: 'day', model: 'model', key: 'api_key_id', account: 'account_id' }[group];
      return `${groups.includes(group) ? COLUMN[group] : 'null'} as ${name}`;
    });
    return run<UsageSum>(
      `select ${shown.join(', ')}, null as tag, count(*) as requests,
      count(*) filter (where status <> 'completed') as failed_requests, sum(amount_micros)::bigint as amount_micros,
      sum(quantity)::bigint as quantity, sum(input_tokens)::bigint as input_tokens,
      sum(output_tokens)::bigint as output_tokens
      from usage_record where coalesce(account_id = $1, true) ${groups.length > 0 ? `group by ${groups.map((group) => COLUMN[group]).join(', ')}` : ''}`,
      accountId,
    );
  }

  it('equal the sums of the records, for closed and open days, under concurrent writes and for every grouping', async () => {
    const both = async (from: number): Promise<void> => {
      await Promise.all(Array.from({ length: 8 }, (_, turn) => work(from + turn)));
    };
    await both(0);
    await passNight();
    await Promise.all([both(8), days.closeUntil(daysAgo(1)), days.closeUntil(daysAgo(1))]);
    await passNight();
    await run('update usage_closed_day set day = day - 1');
    for (const table of ['model', 'account', 'key']) await run(`update usage_daily_by_${table} set day = day - 1`);
    await both(16);
    const query = { from: daysAgo(5), to: daysAgo(0) };
    for (const accountId of [null, 'acct_2']) {
      for (const groups of GROUPINGS) {
        const sums = await usage.sums({ ...query, accountId }, groups);
        const expected = await sumsOfRecords(groups, accountId);
        expect({ groups, sums: inOrder(sums) }).toEqual({ groups, sums: inOrder(expected) });
      }
    }
    expect((await sumsOfRecords([]))[0]).toMatchObject({ requests: 120n });
    while (await days.closeUntil(daysAgo(1)));
    expect(await run('select day from usage_closed_day')).toHaveLength(2);
    expect(inOrder(await usage.sums({ ...query, accountId: null }, ['day', 'key']))).toEqual(
      inOrder(await sumsOfRecords(['day', 'key'])),
    );
  });

  it('stay open while a transaction that began in them is running, and close after it', async () => {
    await work(1);
    await bench.database.transaction(async (writer) => {
      await writer.query({ text: 'select 1' });
      await days.closeUntil(daysAgo(0));
      expect(await run('select from usage_closed_day')).toEqual([]);
      await writer.query({ text: `update usage_daily set requests = requests + 5 where api_key_id = 'key_2'` });
    });
    // Anything else that is open in this database, a connection's start among them, puts it off once more.
    const closed = await eventually(async () => {
      await days.closeUntil(daysAgo(0));
      const sums = await run('select requests from usage_daily_by_key where api_key_id = $1', 'key_2');
      return sums.length > 0 && sums;
    });
    expect(closed).toEqual([{ requests: 7n }]);
  });

  it('are closed once by concurrent workers, without gaps, a month at a time', async () => {
    await work(1);
    await run(`update usage_daily set day = day - 70`);
    await Promise.all([1, 2, 3].map(() => days.closeUntil(daysAgo(1))));
    while (await days.closeUntil(daysAgo(1)));
    const [closed] = await run<{ days: number; requests: bigint }>(`
      select count(*)::integer as days, (select sum(requests)::bigint from usage_daily_by_account) as requests
      from usage_closed_day`);
    expect(closed).toEqual({ days: 70, requests: 5n });
  });

  it('are not closed before they are over', async () => {
    await work(1);
    await days.closeDue();
    expect(await run('select from usage_closed_day')).toEqual([]);
  });
});

describe('Sums of all accounts', () => {
  let bench: TaskBench;
  let usage: UsageService;
  beforeAll(async () => {
    bench = await openTaskBench(new FakeVendor());
    usage = new UsageService(bench.database);
  });
  afterAll(() => bench.close());

  const month = { accountId: null, from: daysAgo(30), to: daysAgo(0) };

  it('are detailed for a month, and coarse for a year', async () => {
    expect(await usage.sums(month, ['model', 'key'])).toEqual([]);
    const year = { ...month, from: daysAgo(365) };
    for (const groups of [[], ['day'], ['model'], ['day', 'model'], ['account']] as const) {
      await expect(usage.sums(year, groups)).resolves.toBeDefined();
    }
    for (const groups of [['key'], ['model', 'account'], ['day', 'account']] as const) {
      await expect(usage.sums({ ...month, from: daysAgo(31) }, groups)).rejects.toMatchObject({
        code: 'invalid_parameter',
        param: 'group_by',
      });
    }
    await expect(usage.sums({ ...year, accountId: 'acct_bench' }, GROUPS)).resolves.toEqual([]);
  });

  it('are refused rather than truncated when there are too many', async () => {
    await bench.database.query({
      text: `insert into usage_daily (account_id, day, model, api_key_id, kind, requests)
        select 'acct_bench', (now() at time zone 'utc')::date - n % 10, 'm', 'key_' || n, 'text', 1 from generate_series(1, 10001) n`,
    });
    await expect(usage.sums(month, ['key'])).rejects.toMatchObject({ code: 'invalid_parameter', param: 'group_by' });
    expect(await usage.sums({ ...month, to: daysAgo(1) }, ['key'])).toHaveLength(9_001);
    expect(await usage.sums(month, [])).toMatchObject([{ requests: 10_001n }]);
  });
});

const inOrder = (sums: readonly UsageSum[]): string[] =>
  sums
    .map((sum) => JSON.stringify(sum, (_name, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)))
    .sort();

const usageOf = (turn: number): RequestUsage => ({
  model: `vendor-${turn % 3}`,
  upstream: 'sandbox',
  status: turn % 4 === 0 ? 'failed' : 'completed',
  lines: [],
  inputTokens: turn,
  cachedInputTokens: 0,
  outputTokens: 2 * turn,
  reasoningTokens: 0,
  durationMs: 1,
});
