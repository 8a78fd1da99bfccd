/** The schedule of questions to vendors: batches only, so that ten thousand running tasks cost few round trips. */

/**
 * $1 provider, $2 most rows, $3 for how long they are held, in ms, $4 the earliest due time to search from. One write for several polls:
 * until the lease ends no other process polls, and then any may, whatever became of the holder.
 *
 * Without $4 every claim would pass over the index entries of all turns that were taken since the last vacuum.
 */
export const CLAIM_POLLS = `
with due as materialized (
  select ctid as row_id, next_poll_at from task_poll
  where provider = $1 and next_poll_at <= now() and next_poll_at > $4::timestamptz
  order by next_poll_at limit $2 for update skip locked
)
update task_poll set next_poll_at = now() + $3::integer * interval '1 millisecond', polls = polls + 1
where ctid = any(array(select row_id from due))
returning task_id, provider, operation, polls, cancel_requested, (select max(next_poll_at) from due) as reached_at`;

/**
 * $1 task ids, $2 delays in ms, $3 whether the request to cancel was known. One that came while the vendor was asked
 * keeps its place at the front; one that the vendor did not answer waits like any question.
 */
export const RESCHEDULE_POLLS = `
update task_poll p set next_poll_at = now() + d.delay * interval '1 millisecond'
from unnest($1::text[], $2::integer[], $3::boolean[]) as d(id, delay, wish_known)
where p.task_id = d.id and (d.wish_known or not p.cancel_requested)
returning p.task_id`;

/** $1 task id. Nothing is left to ask about a task that transitioned on. */
export const UNSCHEDULE_ENDED = `
delete from task_poll where task_id = $1 and not exists (select from task where id = $1 and state = 'running')`;

/** $1 task id, $2 provider. What was to be asked later is asked now. */
export const ASK_NOW = `
update task_poll set next_poll_at = now() where task_id = $1 and provider = $2 and next_poll_at > now()`;

/** $1 task ids, $2 percents, $3 least step in percent. Progress only ever grows, and small steps are not worth a write. */
export const SET_PROGRESS = `
update task t set progress = d.percent, version = t.version + 1
from unnest($1::text[], $2::smallint[]) as d(id, percent)
where t.id = d.id and t.state = 'running' and t.progress <= d.percent - $3::smallint
returning t.id`;

/**
 * The vendor is done: any worker may now copy the files. $1 `[{ id, outputs, cost, unit, worth }]`, cost and its worth in
 * micros when the vendor reported it.
 */
export const SET_STORING = `
with done as (
  select id, outputs, cost, unit, worth
  from jsonb_to_recordset($1::jsonb) as d(id text, outputs jsonb, cost bigint, unit text, worth bigint)
), transitioned as (
  update task t set state = 'storing', outputs = d.outputs, lease_until = now(), progress = greatest(t.progress, 95),
    produced_at = now(), lapses = 0, sudden_lapses = 0, version = t.version + 1,
    cost_micros = coalesce(d.cost, t.cost_micros), cost_unit = coalesce(d.unit, t.cost_unit),
    cost_worth_micros = case when d.cost is null then t.cost_worth_micros else d.worth end,
    cost_is_reported = t.cost_is_reported or d.cost is not null
  from done d where t.id = d.id and t.state = 'running'
  returning t.id, t.medium
), unscheduled as (
  delete from task_poll where task_id in (select id from done)
)
select id, medium from transitioned`;

/**
 * The schedule is unlogged and empty after a crash of the database; this fills it again from the rows, once, and reads one row
 * whenever there is nothing to fill. The vendors are asked over a second, not all at once.
 */
export const FILL_SCHEDULE = `
with emptied as (
  insert into task_poll_schedule default values on conflict do nothing returning filled
)
insert into task_poll (task_id, provider, operation, next_poll_at, cancel_requested)
select t.id, t.provider, t.operation, now() + random() * interval '1 second', t.cancel_requested_at is not null and t.cancel_outcome is null
from task t
where exists (select from emptied) and t.state = 'running'
on conflict (task_id) do nothing`;

/** $1 provider, $2 call, $3 pause in ms. Every worker leaves the vendor alone for that long. */
export const PAUSE_UPSTREAM = `
insert into upstream_limit as l (provider, call, paused_until)
values ($1, $2, now() + $3::integer * interval '1 millisecond')
on conflict (provider, call) do update set paused_until = greatest(l.paused_until, excluded.paused_until)`;

/** Every pause that still holds, in ms. */
export const CURRENT_PAUSES = `
select provider, call, ceil(extract(epoch from paused_until - now()) * 1000)::integer as left_ms
from upstream_limit where paused_until > now()`;

/**
 * $1 provider, $2 call, $3 how many calls are wanted, $4 ms from call to call. Grants what the vendor's rate leaves to
 * all workers together, with a burst of one second, or of one call where a second holds none. `wait_ms`: until one more
 * is granted.
 */
export const TAKE_CALLS = `
with added as (
  insert into upstream_limit (provider, call) values ($1, $2) on conflict do nothing
), locked as (
  select greatest(next_call_at, now()) as next_call_at from upstream_limit where provider = $1 and call = $2 for update
), granted as (
  select next_call_at, greatest(0, least($3::integer,
    floor((greatest(1000, $4::integer) - extract(epoch from next_call_at - now()) * 1000) / $4::integer)))::integer as calls
  from locked
), taken as (
  update upstream_limit l set next_call_at = g.next_call_at + g.calls * $4::integer * interval '1 millisecond'
  from granted g where l.provider = $1 and l.call = $2
)
select calls, greatest(0, ceil(extract(epoch from next_call_at - now()) * 1000
  + (calls + 1) * $4::integer - greatest(1000, $4::integer)))::integer as wait_ms
from granted`;
