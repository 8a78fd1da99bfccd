// Every query of the API over usage, ledger and audit, over ten million generated records; the bar is 100 ms each. `ROWS`
// as argument for fewer. Times grow with what else the machine does; the processor time of Postgres does not.
import { loadavg } from 'node:os';
import {
  type PageRequest,
  RecordsService,
  USAGE_GROUPS,
  UsageDaysService,
  type UsageGroup,
  UsageService,
} from '#features';
import { Database, DatabaseConfig } from '#platform';
import { startDurableServices } from '#testing';
import { processorSeconds } from './processor-time.js';

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
/** In the order in which they would have arrived: one day after the other. */
const SUM_UP = `
insert into usage_daily (account_id, day, model, api_key_id, kind, requests, failed_requests, amount_micros, input_tokens, output_tokens)
select account_id, (created_at at time zone 'utc')::date, model, api_key_id, kind, count(*),
  count(*) filter (where status = 'failed'), sum(amount_micros), sum(input_tokens), sum(output_tokens)
from usage_record where created_at <= now() group by 1, 2, 3, 4, 5 order by 2, md5(api_key_id || model)`;
/** A tenth as many entries of the ledger, and a thousandth as many records of the audit. */
const FILL_LEDGER = `
insert into ledger_entry (account_id, kind, debit, credit, amount_micros, reference)
select 'acct_' || n % ${ACCOUNTS}, 'top_up', 'funding', 'available', 1000, 'payment-' || n from generate_series(1, $1::integer) n`;
const FILL_AUDIT = `
insert into audit_record (id, created_at, actor, action, subject_type, subject_id, request_id)
select 'audit_' || n, now() - n * interval '1 minute', 'admin', 'account.changed', 'account', 'acct_' || n % ${ACCOUNTS}, 'req'
from generate_series(1, $1::integer) n`;

const services = await startDurableServices();
const config = Object.assign(new DatabaseConfig(), { DATABASE_STATEMENT_TIMEOUT_SECONDS: 3_600 });
const database = new Database(services.databaseUrl, config);
const usage = new UsageService(database);
const records = new RecordsService(database);
try {
  await fill();
  await measureAll(await queries());
} finally {
  await database.close();
  await services.stop();
}

async function fill(): Promise<void> {
  await database.query({
    text: `insert into account (id, name) select 'acct_' || n, 'bench' from generate_series(0, ${ACCOUNTS - 1}) n`,
  });
  for (let month = MONTHS - 1; month >= 0; month -= 1) {
    const start = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - month, 1));
    await database.query({ text: `select ensure_month_partition('usage_record', $1::date)`, values: [start] });
    await database.query({ text: FILL_MONTH, values: [`${month}`, start, Math.ceil(ROWS / MONTHS)] });
  }
  await database.query({ text: SUM_UP });
  await database.query({ text: FILL_LEDGER, values: [Math.ceil(ROWS / 10)] });
  await database.query({ text: FILL_AUDIT, values: [Math.ceil(ROWS / 1_000)] });
  const days = new UsageDaysService(database);
  const beganAt = performance.now();
  while (await days.closeDue());
  console.log(`a year of days was closed in ${Math.round(performance.now() - beganAt)} ms`);
  await database.query({ text: 'vacuum analyze' });
}

type Query = readonly [name: string, run: () => Promise<unknown>];

async function queries(): Promise<Query[]> {
  const day = (daysAgo: number): string => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
  const month = { from: day(29), to: day(0) };
  const year = { from: day(364), to: day(0) };
  const one = { accountId: 'acct_7' };
  const all = { accountId: null };
  const first = (limit: number): PageRequest => ({ limit, cursor: null });
  const deep = await deepCursor((page) => usage.records({ ...one, ...year }, page));
  const deepLedger = await deepCursor((page) => records.ledger(all, page));
  const sumsOfAll = (days: typeof month, name: string, groupings: readonly (readonly UsageGroup[])[]): Query[] =>
    groupings.map((groups) => [
      `sums of all accounts, ${name}, ${groups.length > 0 ? `by ${groups.join(', ')}` : 'in all'}`,
      () => usage.sums({ ...all, ...days }, groups),
    ]);
  return [
    ['sums of an account, 30 days, by day, model and key', () => usage.sums({ ...one, ...month }, USAGE_GROUPS)],
    ['sums of an account, a year, by day, model and key', () => usage.sums({ ...one, ...year }, USAGE_GROUPS)],
    ['sums of an account, a year, by model', () => usage.sums({ ...one, ...year }, ['model'])],
    ...sumsOfAll(year, 'a year', [[], ['model'], ['day', 'model'], ['account']]),
    ...sumsOfAll(month, '30 days', [['day', 'model'], ['account'], ['day', 'account'], ['key'], ['key', 'account']]),
    ...sumsOfAll(month, '30 days', [
      ['model', 'account'],
      ['model', 'key'],
      ['model', 'key', 'account'],
    ]),
    ['records of an account, first 50', () => usage.records({ ...one, ...year }, first(50))],
    [
      'records of an account, 50 behind the 20,000th',
      () => usage.records({ ...one, ...year }, { limit: 50, cursor: deep }),
    ],
    ['records of all accounts, first 1,000', () => usage.records({ ...all, ...month }, first(1_000))],
    ['ledger of an account, first 50', () => records.ledger(one, first(50))],
    ['ledger of all accounts, 50 behind the 20,000th', () => records.ledger(all, { limit: 50, cursor: deepLedger })],
    ['audit, first 50', () => records.audit(null, first(50))],
    ['audit of an account, first 50', () => records.audit('acct_7', first(50))],
  ];
}

async function deepCursor(
  read: (page: PageRequest) => Promise<{ readonly nextCursor: string | null }>,
): Promise<string | null> {
  let cursor: string | null = null;
  for (let page = 0; page < 20; page += 1) cursor = (await read({ limit: 1_000, cursor })).nextCursor;
  return cursor;
}

async function measureAll(measured: readonly Query[]): Promise<void> {
  const text = `select split_part(pg_read_file('postmaster.pid'), e'\\n', 1)::integer as pid`;
  const postmaster = (await database.query<{ pid: number }>({ text })).rows[0]?.pid ?? Number.NaN;
  console.log(`\nQueries over ${ROWS} usage records\n`);
  console.log(
    `| query | median ms | slowest ms | below ${BAR_MS} ms | Postgres CPU ms | load |\n|---|---|---|---|---|---|`,
  );
  for (const [name, run] of measured) {
    const before = processorSeconds(postmaster).postgres;
    const times = await timesOf(run);
    const cpuMs = (1000 * (processorSeconds(postmaster).postgres - before)) / (REPEATS + 1);
    const slowest = times.at(-1) ?? Number.NaN;
    const [median, load] = [times[Math.floor(REPEATS / 2)]?.toFixed(1), loadavg()[0]?.toFixed(1)];
    console.log(
      `| ${name} | ${median} | ${slowest.toFixed(1)} | ${slowest < BAR_MS ? 'yes' : 'NO'} | ${cpuMs.toFixed(0)} | ${load} |`,
    );
  }
}

async function timesOf(run: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  await run();
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    const startedAt = performance.now();
    await run();
    times.push(performance.now() - startedAt);
  }
  return times.sort((first, second) => first - second);
}
