import type { ProcessConfig } from '#runtime';

type Retention = ProcessConfig['retention'];

/** Rows that go one batch at a time. */
export interface RowRetention {
  readonly table: string;
  /** Which setting says for how many days they stay; absent: each row says itself when it expires. */
  readonly keptFor?: keyof Retention;
  /** $1 the most rows of one batch, $2 the days. Answers a row for each that went, or for a step towards them; none: there are no more. */
  readonly text: string;
}

/** The most bytes of one statement, but for its last row: larger ones may take so long that they are undone, again and again. */
const BYTES_AT_ONCE = 64 * 1024 * 1024;

/** Of rows that have a `size`, in the order of `key`: how much those before each have. */
const BEFORE = (key: string): string =>
  `coalesce(sum(size) over (order by ${key} rows between unbounded preceding and 1 preceding), 0) as before`;

/** @param size how many bytes its long columns have, as they are stored. */
const expired = (table: string, size = '0'): RowRetention => ({
  table,
  text: `delete from ${table} where ctid = any(array(
    select place from (select place, ${BEFORE('ends, place')} from (
      select ctid as place, expires_at as ends, ${size} as size from ${table} where expires_at <= now()
      order by expires_at limit $1 for update skip locked) as locked) as measured
    where before < ${BYTES_AT_ONCE})) returning 1`,
});

const old = (table: string, endedAt: string, keptFor: keyof Retention, size = '0'): RowRetention => ({
  table,
  keptFor,
  text: `delete from ${table} where ctid = any(array(
    select place from (select place, ${BEFORE('place')} from (
      select ctid as place, ${size} as size from ${table} where ${endedAt} < now() - $2::integer * interval '1 day'
      limit $1 for update skip locked) as locked) as measured
    where before < ${BYTES_AT_ONCE})) returning 1`,
});

/**
 * Takes from ended tasks what they were asked for; the row stays, because the ledger refers to it. It passes over the
 * tasks in the order of their ids, which is that of time, and stops before the first that has not ended or is too
 * young. Of several replicas one works, and the others find nothing to do.
 */
const TASK_CONTENT: RowRetention = {
  table: 'task',
  keptFor: 'TASK_CONTENT_RETENTION_DAYS',
  text: `
with turn as materialized (
  select pg_try_advisory_xact_lock(hashtext('task_content')) as alone
), sweep as (
  select coalesce((select position from maintenance_position where job = 'task_content'), '') as position
  from turn where alone
), batch as (
  select id, finished_at is null or created_at >= now() - $2::integer * interval '1 day' as is_kept
  from task where id > (select position from sweep) order by id limit $1
), sized as (
  select id, pg_column_size(parameters) + (
    select coalesce(sum(pg_column_size(piece)), 0) from task_long_text where task_id = task.id) as size
  from task where id in (select id from batch where id < all(array(select id from batch where is_kept)))
), ready as (
  select id from (select id, ${BEFORE('id')} from sized) as measured where before < ${BYTES_AT_ONCE}
), moved as (
  insert into maintenance_position (job, position)
  select 'task_content', max(id) from ready having count(*) > 0
  on conflict (job) do update set position = excluded.position
), emptied as (
  delete from task_long_text where task_id in (select id from ready)
)
update task set parameters = '{}', outputs = null, long_bytes = null where id in (select id from ready) returning 1`,
};

/** The most bytes of inline files that are kept of the failed tasks of an account, for operators who send them again. */
const KEPT_FILES_BYTES = 512 * 1024 * 1024;

/** Inline files of failed tasks, of all but the newest of an account. The index of them holds all that is looked at. */
const KEPT_FILES: RowRetention = {
  table: 'task_long_text',
  text: `
with kept as (
  select id, long_bytes as size, sum(long_bytes) over (partition by account_id order by id desc) as newer
  from task where long_bytes is not null
), gone as (
  select id, ${BEFORE('id')} from kept where newer > ${KEPT_FILES_BYTES} order by id limit $1
), emptied as (
  delete from task_long_text where task_id in (select id from gone where before < ${BYTES_AT_ONCE})
)
update task set long_bytes = null where id in (select id from gone where before < ${BYTES_AT_ONCE}) returning 1`,
};

/** An hour after its removal no task that ends still names it; its deliveries, which do, go by their own retention. */
const REMOVED_ENDPOINTS: RowRetention = {
  table: 'webhook_endpoint',
  text: `delete from webhook_endpoint where id = any(array(
    select e.id from webhook_endpoint e where e.disabled_at < now() - interval '1 hour'
      and not exists (select from webhook_delivery d where d.endpoint_id = e.id) limit $1 for update skip locked)) returning 1`,
};

const FILE_BATCHES_MAX = 2_000;
/** How many new ones are looked at together, for the accounts that made them. */
const BATCHES_AT_ONCE = 10_000;

/**
 * Their files stay in their vector stores. Only accounts that made batches since the last round can have too many: it goes on in the
 * order of the ids, which is that of time, and stays where it is until none of those accounts has too many.
 */
const OLD_FILE_BATCHES: RowRetention = {
  table: 'file_batch',
  text: `
with turn as materialized (
  select pg_try_advisory_xact_lock(hashtext('file_batch')) as alone
), sweep as (
  select coalesce((select position from maintenance_position where job = 'file_batch'), '') as position
  from turn where alone
), made as materialized (
  select b.id, s.account_id from sweep cross join lateral (
    select id, vector_store_id from file_batch where id > sweep.position order by id limit ${BATCHES_AT_ONCE}
  ) as b join vector_store s on s.id = b.vector_store_id
), old as materialized (
  select beyond.id from (select distinct account_id from made) as maker cross join lateral (
    select b.id from file_batch b join vector_store s on s.id = b.vector_store_id
    where s.account_id = maker.account_id order by b.id desc offset ${FILE_BATCHES_MAX}
  ) as beyond limit $1
), moved as (
  insert into maintenance_position (job, position)
  select 'file_batch', max(id) from made where not exists (select from old) having count(*) > 0
  on conflict (job) do update set position = excluded.position
  returning 1
), freed as (
  update vector_store_file set batch_id = null where batch_id = any(array(select id from old))
), gone as (
  delete from file_batch where id = any(array(select id from old)) returning 1
)
select 1 from moved union all select 1 from gone`,
};

/**
 * Prompts and answers whose days are over, or whose log was deleted, and then that log. One round at a time, because it locks the rows of
 * several logs.
 */
const LOGGED_PROMPTS: RowRetention = {
  table: 'prompt_entry',
  text: `
with turn as materialized (
  select pg_try_advisory_xact_lock(hashtext('prompt_entry')) as alone
), old as materialized (
  select entry.log_id, entry.place, entry.size from turn cross join prompt_log l cross join lateral (
    select e.log_id, e.ctid as place, e.kept_bytes as size from prompt_entry e
    where e.log_id = l.id and e.created_at < case when l.ended_at is null
      then now() - make_interval(days => l.retention_days) else 'infinity' end
    order by e.created_at, e.id limit $1 for update skip locked
  ) as entry where turn.alone limit $1
), gone as (
  delete from prompt_entry where ctid = any(array(
    select place from (select place, ${BEFORE('place')} from old) as measured where before < ${BYTES_AT_ONCE}))
  returning log_id, kept_bytes
), counted as (
  update prompt_log l set kept_bytes = greatest(l.kept_bytes - freed.bytes, 0)
  from (select log_id, sum(kept_bytes) as bytes from gone group by log_id) as freed where l.id = freed.log_id
), ended as (
  delete from prompt_log l using turn where turn.alone and l.ended_at < now() - interval '1 minute'
    and not exists (select from prompt_entry e where e.log_id = l.id) returning 1
)
select 1 from gone union all select 1 from ended`,
};

/** The work went well since, or nobody tries it any more. The longest pause is an hour. */
const FORGOTTEN_PAUSES: RowRetention = {
  table: 'paused_work',
  text: `delete from paused_work where ctid = any(array(
    select ctid from paused_work where resumes_at < now() - interval '2 hours' limit $1 for update skip locked)) returning 1`,
};

/**
 * What else grows has an end of its own: counts of the minute are removed by the limiter, open holds by their
 * settlement, poll rows by the end of their task, wake-ups by the queue. Accounts, keys, prices, tasks, their files' rows
 * and the ledger stay, because each number of the ledger must lead to what it was paid for.
 */
export const ROW_RETENTION: readonly RowRetention[] = [
  expired('idempotency_record', 'coalesce(pg_column_size(response_body), 0)'),
  expired('text_response', 'pg_column_size(response) + pg_column_size(input_items)'),
  expired('text_item', 'pg_column_size(item)'),
  expired('text_item_place'),
  expired('console_session'),
  expired('one_time_link'),
  expired('used_challenge'),
  expired('invitation'),
  FORGOTTEN_PAUSES,
  REMOVED_ENDPOINTS,
  OLD_FILE_BATCHES,
  old('webhook_delivery', 'finished_at', 'WEBHOOK_LOG_RETENTION_DAYS', 'pg_column_size(payload)'),
  old('reconciliation_report', 'started_at', 'AUDIT_RETENTION_DAYS'),
  old('task_call', 'ended_at', 'AUDIT_RETENTION_DAYS'),
  old('task_event', 'created_at', 'AUDIT_RETENTION_DAYS'),
  old('taken_order', 'created_at', 'AUDIT_RETENTION_DAYS'),
  old('upstream_orphan', 'resolved_at', 'AUDIT_RETENTION_DAYS'),
  TASK_CONTENT,
  KEPT_FILES,
  LOGGED_PROMPTS,
];
