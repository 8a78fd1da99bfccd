import type { Client } from 'pg';
import { encodeTime } from 'ulid';

/** How much there is of everything, and whose it is. */
export interface HistoryRows {
  /** The account that owns half of all rows, and its key. */
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly usageRows: number;
  readonly tasks: number;
  /** How many share the other half. */
  readonly otherAccounts: number;
}

const MONTHS = 12;
const DAY_MS = 86_400_000;
const BATCH = 10_000;
const RANDOM_CHARACTERS = 16;

const ADD_ACCOUNTS = `
with added as (insert into account (id, name, available_micros) select 'acct_' || n, 'Studio ' || n, 0
  from generate_series(1, $1::integer) n returning id)
insert into api_key (id, account_id, name, prefix, key_hash) select 'key_' || id, id, 'bench', 'sk', sha256(id::bytea) from added`;
/** Every second row is of the account that is looked at. */
const OWNER = `case when n % 2 = 0 then $1 else 'acct_' || 1 + n % $6::integer end`;
const KEY = `case when n % 2 = 0 then $2 else 'key_acct_' || 1 + n % $6::integer end`;

const ADD_USAGE = `
insert into usage_record (id, created_at, account_id, api_key_id, kind, model, request_id, status, amount_micros, lines,
  input_tokens, output_tokens, duration_ms)
select 'usage_' || $3 || '_' || n, least($4::timestamptz + n * interval '1 month' / $5::integer, now()), ${OWNER}, ${KEY}, 'text',
  'vendor-' || n % 7, 'req_' || $3 || '_' || n, case when n % 50 = 0 then 'failed' else 'completed' end, 1000 + n % 977,
  '[{"source":"upstream","unit":"input_token","price_micros":"1250000","per_quantity":"1000000","quantity":800,"amount_micros":"1000"}]',
  800, n % 977, 900
from generate_series(1, $5::integer) n`;
const SUM_UP = `
insert into usage_daily (account_id, day, model, api_key_id, kind, requests, failed_requests, amount_micros, input_tokens, output_tokens)
select account_id, (created_at at time zone 'utc')::date, model, api_key_id, kind, count(*),
  count(*) filter (where status = 'failed'), sum(amount_micros), sum(input_tokens), sum(output_tokens)
from usage_record group by 1, 2, 3, 4, 5`;
/** Ends in the way that a task out of ten, or of fifty, ends. */
const STATE = `case when n % 50 = 0 then 'cancelled' when n % 10 = 0 then 'failed' else 'completed' end`;
const ADD_TASKS = `
insert into task (id, account_id, api_key_id, medium, path, family, model, mode, parameters, state, hold_micros, charged_micros,
  billing_unit, billing_variant, billing_settle, quantity, request_id, deadline_at, created_at, started_at, finished_at, provider)
select id, ${OWNER}, ${KEY}, case when n % 3 = 0 then 'video' else 'image' end, '/v1/images/generations', 'eta',
  'model-' || n % 20, 'text-to-image',
  jsonb_build_object('model', 'model-' || n % 20, 'prompt', 'a lighthouse number ' || n || ' in the evening', 'size', '1:1'),
  ${STATE}, 35000, case when ${STATE} = 'completed' then 35000 else 0 end, 'image', '1K', 'per-output', 1, 'req_task_' || n,
  made + interval '1 hour', made, made + interval '1 second', made + interval '9 seconds', 'sandbox'
from unnest($3::text[], $4::timestamptz[], $5::integer[]) as t(id, made, n)`;
const ADD_ENTRIES = `
insert into ledger_entry (account_id, api_key_id, task_id, request_id, kind, debit, credit, amount_micros, created_at)
select account_id, api_key_id, id, request_id, k.kind, k.debit, k.credit, 35000, created_at from task
cross join (values ('hold', 'available', 'held'), ('capture', 'held', 'revenue')) as k(kind, debit, credit)
where state = 'completed' order by id, k.kind desc`;
const ADD_AUDIT = `
insert into audit_record (id, created_at, actor, action, subject_type, subject_id, request_id)
select 'audit_' || n, now() - n * interval '1 minute', 'admin', 'account.changed', 'account', 'acct_' || n % $2::integer, 'req'
from generate_series(1, $1::integer) n`;

/** Fills the tables of what has ended: tasks, ledger, usage, audit. */
export async function addHistory(database: Client, rows: HistoryRows): Promise<void> {
  const { accountId, apiKeyId, usageRows, tasks, otherAccounts } = rows;
  await database.query({ text: ADD_ACCOUNTS, values: [otherAccounts] });
  for (let month = MONTHS - 1; month >= 0; month -= 1) {
    const start = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - month, 1));
    await database.query({ text: `select ensure_month_partition('usage_record', $1::date)`, values: [start] });
    const values = [accountId, apiKeyId, `${month}`, start, Math.ceil(usageRows / MONTHS), otherAccounts];
    await database.query({ text: ADD_USAGE, values });
  }
  await database.query({ text: SUM_UP });
  for (let first = 0; first < tasks; first += BATCH) await addTasks(database, rows, first);
  await database.query({ text: ADD_ENTRIES });
  await database.query({ text: ADD_AUDIT, values: [Math.ceil(usageRows / 1_000), otherAccounts] });
  await database.query({ text: 'vacuum analyze' });
}

/** A batch of tasks, evenly over the last 90 days. Their ids sort by time, as all do. */
async function addTasks(database: Client, rows: HistoryRows, first: number): Promise<void> {
  const { accountId, apiKeyId, tasks, otherAccounts } = rows;
  const numbers = Array.from({ length: Math.min(BATCH, tasks - first) }, (_none, index) => first + index);
  const madeMs = (n: number): number => Date.now() - Math.round(((tasks - n) / tasks) * 90 * DAY_MS);
  const ids = numbers.map((n) => `task_${encodeTime(madeMs(n), 10)}${String(n).padStart(RANDOM_CHARACTERS, '0')}`);
  const made = numbers.map((n) => new Date(madeMs(n)));
  await database.query({ text: ADD_TASKS, values: [accountId, apiKeyId, ids, made, numbers, otherAccounts] });
}
