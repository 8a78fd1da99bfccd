// Every usage query of the API over ten million generated records; the bar is 100 ms each. `ROWS` as argument for fewer.
import { type UsageGroup, UsageService } from '#features';
import { Database, DatabaseConfig } from '#platform';
import { startBenchServices } from './services.js';

const ROWS = Number(process.argv[2] ?? 10_000_000);
const MONTHS = 12;
const ACCOUNTS = 200;
const BAR_MS = 100;
const REPEATS = 15;

/** One month of records, spread evenly over accounts, keys, models and the month. */
const FILL_MONTH = `
insert into usage_record (id, created_at, account_id, api_key_id, kind, model, request_id, status, amount_micros, lines,
  input_tokens, output_tokens, duration_ms)
select 'usage_' || $1 || '_' || n, $2::timestamptz + n * interval '1 month' / $3::integer,
  'acct_' || n % ${ACCOUNTS}, 'key_' || n % ${ACCOUNTS * 3}, 'text', 'vendor-' || n % 7, 'req_' || n,
  case when n % 50 = 0 then 'failed' else 'completed' end, 1000 + n % 977,
  '[{"source":"upstream","unit":"input_token","price_micros":"1250000","per_quantity":"1000000","quantity":800,"amount_micros":"1000"}]',
  800, n % 977, 900
from generate_series(1, $3::integer) n`;
const SUM_UP = `
insert into usage_daily (account_id, day, model, api_key_id, kind, requests, failed_requests, amount_micros, input_tokens, output_tokens)
select account_id, (created_at at time zone 'utc')::date, model, api_key_id, kind, count(*),
  count(*) filter (where status = 'failed'), sum(amount_micros), sum(input_tokens), sum(output_tokens)
from usage_record group by 1, 2, 3, 4, 5`;

const services = await startBenchServices();
const config = Object.assign(new DatabaseConfig(), { DATABASE_STATEMENT_TIMEOUT_SECONDS: 3_600 });
const database = new Database(services.databaseUrl, config);
try {
  await fill();
  await measureAll(new UsageService(database));
} finally {
  await database.close();
  await services.stop();
}

async function fill(): Promise<void> {
  await database.query({
    text: `insert into account (id, name) select 'acct_' || n, 'bench' from generate_series(0, ${ACCOUNTS - 1}) n`,
  });
  for (let month = 0; month < MONTHS; month += 1) {
    const start = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - month, 1));
    await database.query({ text: `select ensure_month_partition('usage_record', $1::date)`, values: [start] });
    await database.query({ text: FILL_MONTH, values: [`${month}`, start, Math.ceil(ROWS / MONTHS)] });
  }
  await database.query({ text: SUM_UP });
  await database.query({ text: 'vacuum analyze usage_record' });
  await database.query({ text: 'vacuum analyze usage_daily' });
}

async function measureAll(usage: UsageService): Promise<void> {
  const day = (daysAgo: number): string => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
  const month = { from: day(29), to: day(0) };
  const year = { from: day(364), to: day(0) };
  const one = { accountId: 'acct_7' };
  const all = { accountId: null };
  const groups: readonly UsageGroup[] = ['day', 'model', 'key'];
  const deep = await deepCursor(usage, { ...one, ...year });
  const queries: [string, () => Promise<unknown>][] = [
    ['sums of an account, 30 days, by day, model and key', () => usage.sums({ ...one, ...month }, groups)],
    ['sums of an account, a year, by day, model and key', () => usage.sums({ ...one, ...year }, groups)],
    ['sums of an account, a year, by model', () => usage.sums({ ...one, ...year }, ['model'])],
    ['sums of all accounts, 30 days, by account', () => usage.sums({ ...all, ...month }, ['account'])],
    ['sums of all accounts, 30 days, by day and model', () => usage.sums({ ...all, ...month }, ['day', 'model'])],
    ['records of an account, first 50', () => usage.records({ ...one, ...year }, { limit: 50, cursor: null })],
    [
      'records of an account, 50 behind the 20,000th',
      () => usage.records({ ...one, ...year }, { limit: 50, cursor: deep }),
    ],
    ['records of all accounts, first 1,000', () => usage.records({ ...all, ...month }, { limit: 1_000, cursor: null })],
  ];
  console.log(
    `\nUsage queries over ${ROWS} records\n\n| query | median ms | slowest ms | below ${BAR_MS} ms |\n|---|---|---|---|`,
  );
  for (const [name, run] of queries) {
    const times = await timesOf(run);
    const slowest = times.at(-1) ?? Number.NaN;
    console.log(`| ${name} | ${times[7]?.toFixed(1)} | ${slowest.toFixed(1)} | ${slowest < BAR_MS ? 'yes' : 'NO'} |`);
  }
}

async function deepCursor(usage: UsageService, query: Parameters<UsageService['records']>[0]): Promise<string | null> {
  let cursor: string | null = null;
  for (let page = 0; page < 20; page += 1) cursor = (await usage.records(query, { limit: 1_000, cursor })).nextCursor;
  return cursor;
}

async function timesOf(run: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    const startedAt = performance.now();
    await run();
    times.push(performance.now() - startedAt);
  }
  return times.sort((first, second) => first - second);
}
