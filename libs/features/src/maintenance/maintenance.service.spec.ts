import type { Platform } from '#runtime';
import { createTestDatabase, type TestDatabase } from '#testing';
import { FakeVendor } from '../tasks/run/testing/fake-vendor.js';
import { HOLD_MICROS, openTaskBench, type TaskBench } from '../tasks/run/testing/task-bench.js';
import { MaintenanceService } from './maintenance.service.js';

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

  it('are created although records of the month exist already, and contain those', async () => {
    await record('usage_early', '2031-03-15T12:00:00Z');
    expect(await placeOf('usage_early')).toBe('usage_record_other');
    await ensure('2031-03-20');
    expect(await placeOf('usage_early')).toBe('usage_record_2031_03');
  });

  it('begin and end by UTC, whatever the time zone of the session', async () => {
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

  it('are created once by concurrent processes', async () => {
    await expect(Promise.all([1, 2, 3, 4].map(() => ensure('2032-01-01')))).resolves.toHaveLength(4);
  });
});

describe('Expired data', () => {
  let bench: TaskBench;
  let maintenance: MaintenanceService;
  beforeAll(async () => {
    bench = await openTaskBench(new FakeVendor());
    maintenance = new MaintenanceService(bench.database, bench.platform.store, bench.platform.config.retention);
  });
  afterAll(() => bench.close());

  it('are removed in rounds without a pause while a table has more than one round', async () => {
    await bench.database.query({
      text: `insert into text_item (account_id, id, response_id, item, expires_at)
        select 'acct_bench', 'item_' || n, 'r', '{}', now() - interval '1 day' from generate_series(1, 250) n`,
    });
    expect(await maintenance.run()).toBe(true);
    expect(await maintenance.run()).toBe(false);
    const { rows } = await bench.database.query({ text: 'select from text_item' });
    expect(rows).toEqual([]);
  });

  it('are removed by as many statements as their bytes need, so that none takes so long that it is undone', async () => {
    const run = (text: string): Promise<unknown> => bench.database.query({ text, limit: 'long' });
    await run('create table removal (transaction xid8, name text, rows bigint)');
    await run(`create function note_removal() returns trigger language plpgsql as $$ begin
      insert into removal select pg_current_xact_id(), tg_table_name, count(*) from gone; return null; end $$`);
    await run('alter table text_item alter column item set storage external');
    await run('alter table task_long_text alter column piece set storage external');
    for (const table of ['text_item', 'task_long_text'])
      await run(`create trigger noted after delete on ${table} referencing old table as gone
        for each statement execute function note_removal()`);
    await run(`insert into text_item (account_id, id, response_id, item, expires_at)
      select 'acct_bench', 'item_' || n, 'r', to_jsonb(repeat('x', 30000000)), now() from generate_series(1, 5) n`);
    const ids = [await bench.submit(), await bench.submit(), await bench.submit()];
    for (const id of ids) {
      await bench.settlement.cancelUnstarted(id);
      await bench.change(id, `created_at = now() - interval '91 days'`);
      await run(`insert into task_long_text (task_id, nth, place, piece) select '${id}', 0, 0, repeat('x', 40000000)`);
    }
    while (await maintenance.run());
    for (const table of ['text_item', 'task_long_text'])
      expect((await bench.database.query({ text: `select from ${table}` })).rows).toEqual([]);
    const { rows } = await bench.database.query({
      text: `select name, array_agg(rows::integer order by transaction) as rows from removal where rows > 0
        group by name order by name`,
    });
    expect(rows).toEqual([
      { name: 'task_long_text', rows: [2, 1] },
      { name: 'text_item', rows: [3, 2] },
    ]);
  });

  it('are removed although a whole round of older files cannot be removed', async () => {
    const taskId = await bench.submit();
    await bench.database.query({
      text: `insert into task_file (task_id, ordinal, role, store_key, content_type, bytes, sha256, expires_at)
        select $1, n, 'output', case when n < 200 then '../no key ' || n else 'media/gone.png' end, 'image/png', 1, '',
          now() - (300 - n) * interval '1 minute' from generate_series(0, 200) n`,
      values: [taskId],
    });
    await maintenance.run();
    await maintenance.run();
    const { rows } = await bench.database.query<{ store_key: string }>({
      text: 'select store_key from task_file where removed_at is not null',
    });
    expect(rows).toEqual([{ store_key: 'media/gone.png' }]);
  });
});

describe('Retention by days', () => {
  let bench: TaskBench;
  beforeAll(async () => {
    bench = await openTaskBench(new FakeVendor());
  });
  afterAll(() => bench.close());

  const run = async <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
    (await bench.database.query<Row>({ text, values })).rows;
  const clean = (retention: Partial<Platform['config']['retention']> = {}): Promise<boolean> =>
    new MaintenanceService(
      bench.database,
      bench.platform.store,
      Object.assign({}, bench.platform.config.retention, retention),
    ).run();
  const ids = async (table: string): Promise<string[]> =>
    (await run<{ id: string }>(`select id from ${table} order by id`)).map(({ id }) => id);

  it('removes ended webhook deliveries with their attempts, and never a pending one', async () => {
    await run(`insert into webhook_delivery (id, account_id, event_type, url, payload, state, next_attempt_at, finished_at, created_at)
      values ('old_delivered', 'acct_bench', 'e', 'https://a', '', 'delivered', null, now() - interval '31 days', now() - interval '32 days'),
        ('old_failed', 'acct_bench', 'e', 'https://a', '', 'failed', null, now() - interval '31 days', now() - interval '32 days'),
        ('old_pending', 'acct_bench', 'e', 'https://a', '', 'pending', now(), null, now() - interval '99 days'),
        ('young', 'acct_bench', 'e', 'https://a', '', 'delivered', null, now() - interval '29 days', now() - interval '99 days')`);
    await run(`insert into webhook_attempt (delivery_id, attempt, duration_ms)
      select id, 1, 1 from webhook_delivery where id <> 'old_pending'`);
    await clean({ WEBHOOK_LOG_RETENTION_DAYS: 0 });
    expect(await ids('webhook_delivery')).toHaveLength(4);
    await clean();
    expect(await ids('webhook_delivery')).toEqual(['old_pending', 'young']);
    expect(await run('select delivery_id from webhook_attempt')).toEqual([{ delivery_id: 'young' }]);
  });

  it('removes webhook endpoints that were removed, once their deliveries are gone, and forgets pauses that are over', async () => {
    await run(`insert into webhook_endpoint (id, account_id, url, secret_sealed, disabled_at)
      values ('open', 'acct_bench', 'https://a', '', null), ('removed', 'acct_bench', 'https://a', '', now() - interval '2 hours'),
        ('just_removed', 'acct_bench', 'https://a', '', now()), ('told', 'acct_bench', 'https://a', '', now() - interval '2 hours')`);
    await run(`insert into webhook_delivery (id, account_id, endpoint_id, event_type, url, payload, state)
      values ('told_of', 'acct_bench', 'told', 'e', 'https://a', '', 'failed')`);
    await run(`insert into paused_work (job, subject_id, failures, reason, resumes_at)
      values ('j', 'over', 1, 'r', now() - interval '3 hours'), ('j', 'paused', 1, 'r', now() + interval '1 minute')`);
    await clean();
    expect(await ids('webhook_endpoint')).toEqual(['just_removed', 'open', 'told']);
    expect(await run('select subject_id from paused_work')).toEqual([{ subject_id: 'paused' }]);
    await run(`delete from webhook_delivery where id = 'told_of'`);
  });

  it('removes reports, and orphans that an operator has handled, with the audit of their time', async () => {
    await run(`insert into reconciliation_report (id, started_at, finished_at, balanced, counts, findings)
      select 'report_' || n, now() - n * interval '1 day', now(), true, '{}', '[]' from unnest(array[1, 399, 401]) n`);
    await run(`insert into upstream_orphan (task_id, provider, operation, created_at, resolved_at)
      values ('open', 'p', '{}', now() - interval '999 days', null),
        ('old', 'p', '{}', now() - interval '999 days', now() - interval '401 days'),
        ('young', 'p', '{}', now() - interval '999 days', now() - interval '399 days')`);
    await clean();
    expect(await ids('reconciliation_report')).toEqual(['report_1', 'report_399']);
    expect(await run('select task_id from upstream_orphan order by task_id')).toEqual([
      { task_id: 'open' },
      { task_id: 'young' },
    ]);
  });

  it('removes the content of old tasks in order, and stops before one that has not ended', async () => {
    const [first, second, open, last] = [
      await bench.submit(),
      await bench.submit(),
      await bench.submit(),
      await bench.submit(),
    ];
    for (const taskId of [first, second, last]) await bench.settlement.cancelUnstarted(taskId);
    for (const taskId of [first, second, open]) await bench.change(taskId, `created_at = now() - interval '91 days'`);
    const emptied = async (): Promise<string[]> =>
      (await run<{ id: string }>(`select id from task where parameters = '{}' order by id`)).map(({ id }) => id);
    await Promise.all([clean(), clean()]);
    expect(await emptied()).toEqual([first, second]);
    await bench.settlement.cancelUnstarted(open);
    await clean();
    expect(await emptied()).toEqual([first, second, open]);
    expect(await bench.row(first)).toMatchObject({ state: 'cancelled', hold_micros: HOLD_MICROS, charged_micros: 0n });
  });

  it('keeps the inline files of the newest failed tasks of an account, and no more than 512 MiB of them', async () => {
    const withFiles = async (megabytes: number): Promise<string> => {
      const id = await bench.submit();
      await run(`insert into task_long_text (task_id, nth, place, piece)
        select '${id}', 0, n, repeat('x', 1000000) from generate_series(1, ${megabytes}) n`);
      return id;
    };
    const [older, newer] = [await withFiles(300), await withFiles(300)];
    for (const id of [older, newer])
      await bench.settlement.fail(await bench.claim(id), 'upstream_error', 'The vendor failed.');
    const open = await withFiles(1);
    const left = async (): Promise<string[]> =>
      (await run<{ id: string }>('select distinct task_id as id from task_long_text order by 1')).map(({ id }) => id);
    expect(await left()).toEqual([older, newer, open]);
    await clean();
    expect(await left()).toEqual([newer, open]);
    expect(await run('select id from task where long_bytes is not null')).toEqual([{ id: newer }]);
    await run('delete from task_long_text');
  });

  it('removes logged prompts after their days, and those of a deleted log with that log, round by round from where it was', async () => {
    const log = (id: string, days: number, ended: boolean) =>
      run(
        `insert into prompt_log (id, account_id, is_on, retention_days, sealed_key, ended_at, kept_bytes)
          select $1, 'acct_bench', not $3, $2, case when not $3 then '\\x00'::bytea end,
            case when $3 then now() - interval '1 hour' end, 3000`,
        id,
        days,
        ended,
      );
    const entries = (of: string, count: number, daysAgo: number) =>
      run(
        `insert into prompt_entry (id, log_id, request_id, api_key_id, model, sealed, kept_bytes, created_at)
          select $1 || '_' || $3 || '_' || n, $1, 'r', 'k', 'm', '\\x00', 10, now() - $3::integer * interval '1 day'
          from generate_series(1, $2) n`,
        of,
        count,
        daysAgo,
      );
    await log('log_open', 7, false);
    await log('log_ended', 7, true);
    await entries('log_open', 2, 6);
    await entries('log_open', 3, 8);
    await entries('log_ended', 450, 0);
    for (let rounds = 0; rounds < 5; rounds += 1) await clean();
    const text = `select id, kept_bytes::integer as bytes,
      (select count(*)::integer from prompt_entry where log_id = prompt_log.id) as entries from prompt_log`;
    expect((await bench.database.query({ text, values: [] })).rows).toEqual([
      { id: 'log_open', bytes: 2970, entries: 2 },
    ]);
  });

  it('keeps the newest 2,000 batches of files of an account; the files of the others stay in their vector stores', async () => {
    await run(`insert into vector_store (id, account_id) values ('vs_1', 'acct_bench'), ('vs_2', 'acct_bench')`);
    await run(`insert into uploaded_file (id, account_id, api_key_id, filename, purpose, content_type, store_key, state)
      values ('file_1', 'acct_bench', 'key_bench', 'a', 'assistants', 'text/plain', '', 'ready')`);
    await run(`insert into file_batch (id, vector_store_id)
      select 'vsfb_' || lpad(n::text, 5, '0'), 'vs_' || 1 + n % 2 from generate_series(1, 2500) n`);
    await run(`with made as (
        insert into file_index (file_id, account_id, chunk_tokens, overlap_tokens) values ('file_1', 'acct_bench', 800, 400) returning id
      ) insert into vector_store_file (vector_store_id, file_id, index_id, batch_id) select 'vs_1', 'file_1', id, 'vsfb_00002' from made`);
    while (await clean());
    expect(await run('select min(id) as first, count(*)::integer as count from file_batch')).toEqual([
      { first: 'vsfb_00501', count: 2_000 },
    ]);
    expect(await run('select file_id, batch_id from vector_store_file')).toEqual([
      { file_id: 'file_1', batch_id: null },
    ]);
    await run(`insert into file_batch (id, vector_store_id) values ('vsfb_02501', 'vs_1'), ('vsfb_02502', 'vs_2')`);
    while (await clean());
    expect(await run('select min(id) as first, count(*)::integer as count from file_batch')).toEqual([
      { first: 'vsfb_00503', count: 2_000 },
    ]);
  });
});
