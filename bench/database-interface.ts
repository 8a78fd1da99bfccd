// The same statements on the same pool, in one process and in turns: through pg, as the hot statements run, and through
// the raw interface of the model client; and the same lists through pg and through the models. Processor time of this
// process for one statement, without that of Postgres.
import { Database, DatabaseConfig } from '#platform';
import { startDurableServices } from '#testing';

type Models = Awaited<ReturnType<Database['models']>>;

const ROUNDS = 12;
const STATEMENTS_IN_ROUND = 1_500;
const AT_ONCE = 16;
const TASKS = 2_000;

const FILL = `
with account as (insert into account (id, name, available_micros) values ('acct', 'Bench', 0) returning id),
key as (insert into api_key (id, account_id, name, prefix, key_hash) select 'key', id, 'Bench', 'gk', '\\x00' from account returning id)
insert into task (id, account_id, api_key_id, medium, path, family, model, mode, parameters, state, hold_micros, billing_unit,
  billing_variant, billing_settle, quantity, request_id, deadline_at)
select 'task_' || n, 'acct', key.id, 'video', '/v1/videos/generations', 'epsilon', 'epsilon-2.3', 'text-to-video',
  '{"prompt": "A boat on a lake at dawn", "duration": 6}', 'running', 35000, 'second', 'default', 'quantity', 6, 'req_' || n,
  now() + interval '1 hour'
from key, generate_series(1, $1::integer) n`;
const FILL_LISTS = [
  `insert into ledger_entry (account_id, kind, debit, credit, amount_micros, reference)
    select 'acct', 'top_up', 'funding', 'available', 1, 'ref-' || n from generate_series(1, 2000) n`,
  `insert into audit_record (id, actor, action, subject_type, subject_id, after, request_id)
    select 'audit_' || n, 'admin', 'account.updated', 'account', 'acct', '{"name": "Bench"}', 'req_' || n
    from generate_series(1, 2000) n`,
];
/** How many rows a page of a list has. */
const PAGE = 50;
/** The lists of operators whose times have microseconds, as they are and as the models would read them. */
const LISTS: readonly {
  readonly name: string;
  readonly text: string;
  readonly list: (models: Models) => Promise<unknown>;
}[] = [
  {
    name: `page of ${PAGE} ledger entries`,
    text: `select id::text as id, to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as time, account_id,
      api_key_id, task_id, request_id, kind, debit, credit, amount_micros, reference, note
      from ledger_entry where account_id = 'acct' order by ledger_entry.id desc limit ${PAGE}`,
    list: ({ ledgerEntry }) =>
      ledgerEntry.findMany({ where: { accountId: 'acct' }, orderBy: { id: 'desc' }, take: PAGE }),
  },
  {
    name: `page of ${PAGE} audit records`,
    text: `select id, to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as time, actor, action, subject_type,
      subject_id, before, after, request_id, address
      from audit_record where subject_id = 'acct' order by created_at desc, id desc limit ${PAGE}`,
    list: ({ auditRecord }) =>
      auditRecord.findMany({
        where: { subjectId: 'acct' },
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        take: PAGE,
      }),
  },
];
/** As a poll of one task, of several that were asked for together, and as a guarded step of tasks that came as JSON. */
const CASES = [
  { name: 'read of 1 task', text: 'select * from task where id = any($1)', values: () => [ids(1)] },
  { name: 'read of 16 tasks', text: 'select * from task where id = any($1)', values: () => [ids(16)] },
  {
    name: 'guarded step of 8 tasks',
    text: `with given as (select * from jsonb_to_recordset($1::jsonb) as g(id text, progress smallint))
      update task t set progress = g.progress, version = version + 1 from given g
      where t.id = g.id and t.state = 'running' returning t.id, t.version, t.hold_micros, t.created_at`,
    // Each its own, so that statements at once never wait for each other's rows.
    values: () => [JSON.stringify(ids(8).map((id) => ({ id, progress: 50 })))],
  },
] as const;

let next = 0;
const ids = (count: number): string[] => Array.from({ length: count }, () => `task_${1 + (next++ % TASKS)}`);

const services = await startDurableServices();
const database = new Database(services.databaseUrl, Object.assign(new DatabaseConfig(), { DATABASE_POOL_SIZE: 8 }));
try {
  await database.query({ text: FILL, values: [TASKS] });
  const models = await database.models();
  for (const { name, text, values } of CASES) {
    const [pg, raw] = await inTurns(
      () => database.query({ name, text, values: values() }),
      () => models.$queryRawUnsafe(text, ...values()),
    );
    console.log(`${name}: pg ${pg.toFixed(0)} µs, Prisma raw ${raw.toFixed(0)} µs, ${(raw / pg).toFixed(2)} times`);
  }
  for (const statement of FILL_LISTS) await database.query({ text: statement });
  for (const { name, text, list } of LISTS) {
    const [pg, listed] = await inTurns(
      () => database.query({ text }),
      () => list(models),
    );
    console.log(`${name}: pg ${pg.toFixed(0)} µs, models ${listed.toFixed(0)} µs, ${(listed / pg).toFixed(2)} times`);
  }
} finally {
  await database.close();
  await services.stop();
}

/** The medians of both ways. The first round compiles the code. */
async function inTurns(one: () => Promise<unknown>, other: () => Promise<unknown>): Promise<[number, number]> {
  const used: [number[], number[]] = [[], []];
  for (let round = -1; round < ROUNDS; round += 1) {
    const times = [await processorTimeOf(one), await processorTimeOf(other)] as const;
    if (round < 0) continue;
    used[0].push(times[0]);
    used[1].push(times[1]);
  }
  return [median(used[0]), median(used[1])];
}

/** Microseconds of processor time for one statement. */
async function processorTimeOf(run: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  let left = STATEMENTS_IN_ROUND;
  const work = async (): Promise<void> => {
    while (left-- > 0) await run();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / STATEMENTS_IN_ROUND;
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((first, second) => first - second)[Math.floor(numbers.length / 2)] ?? 0;
}
