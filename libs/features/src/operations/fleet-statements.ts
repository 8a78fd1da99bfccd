// Sums over the whole fleet. Each reads an index of what is open, so the price does not grow with history.

export const OPEN_TASKS = `
select medium, state, count(*)::integer as open from task where finished_at is null group by medium, state`;

export const DUE_TASKS = `
select medium, count(*)::integer as due, extract(epoch from max(now() - lease_until))::float8 as oldest
from task where lease_until <= now() and finished_at is null group by medium`;

/** Read from the index of what is at an upstream. */
export const AT_UPSTREAMS = `
select provider as upstream, state, count(*)::integer as open
from task where state in ('submitting', 'running') and provider is not null group by 1, 2`;

export const DUE_POLLS = `
select count(*)::integer as due, coalesce(extract(epoch from max(now() - next_poll_at)), 0)::float8 as oldest
from task_poll where next_poll_at <= now()`;

export const WEBHOOKS = `
select count(*)::integer as pending,
  greatest(0, coalesce(extract(epoch from max(now() - next_attempt_at)), 0))::float8 as lag
from webhook_delivery where next_attempt_at is not null`;

export const ORPHANS = `select count(*)::integer as orphans from upstream_orphan where resolved_at is null`;

/** What is passed over now, and what would be passed over again at its next failure soon. */
export const PAUSED = `select job, count(*)::integer as paused from paused_work
where resumes_at > now() - interval '1 minute' group by job`;

/** Counted from the first day that anything was used; a day is closed a quarter of an hour after its end. */
export const USAGE_DAYS = `
select coalesce((now() at time zone 'utc')::date - 1
  - coalesce((select max(day) from usage_closed_day), (select min(day) - 1 from usage_daily)), 0) as open`;

/** One statement, so that all sums are of the same moment. */
export const MONEY = `
select a.available::text, a.held::text, a.used::text,
  abs(a.held - k.held)::text as held_by_keys, greatest(0, t.held - a.held)::text as held_by_tasks
from (select coalesce(sum(available_micros), 0) as available, coalesce(sum(held_micros), 0) as held,
    coalesce(sum(used_micros), 0) as used from account) a,
  (select coalesce(sum(held_micros), 0) as held from api_key) k,
  (select coalesce(sum(hold_micros), 0) as held from task where finished_at is null) t`;

/** Reads the last seven days of the daily sums by their index; an account without recent usage needs no top-up. */
export const LOW_BALANCES = `
select count(*)::integer as accounts from account a
join (select account_id, sum(amount_micros) / 7 as a_day from usage_daily
  where day > (now() at time zone 'utc')::date - 7 group by account_id) used on used.account_id = a.id
where not a.unlimited and used.a_day > 0 and a.available_micros < used.a_day`;
