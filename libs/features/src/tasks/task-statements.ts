import { notPaused } from '../observability/paused-work.js';
import { RENAMED_COLUMNS } from './task-row.js';

/**
 * Every transition of a task, as one guarded statement each. Zero rows mean that another process made a transition first:
 * stop. Times are the database's own, so the clocks of replicas never matter.
 *
 * Claims add one to `attempt`, the fencing token: a worker with an older attempt can no longer write.
 */

/** A task whose attempts crashed so often is worked on alone. */
export const CRASHES_BEFORE_QUARANTINE = 2;

/** Whether the last attempt ended without a word. A worker that was asked to stop may be killed: that is not the task's fault. */
const CRASHED = `(lease_owner is not null and step_began_at is not null
    and not exists (select from worker w where w.id = lease_owner and w.stopping_at is not null))`;

/**
 * Whether it ended before the lease was renewed once, and not together with every other process that worked then: that is a
 * restart of the whole fleet, and not the task's fault.
 */
const EARLY = `(step_renewed_at is null and not coalesce((
      select max(o.seen_at) < least(max(w.seen_at) + interval '6 seconds', now() - $3::integer * interval '1 millisecond')
      from worker w join worker o on (o.host, o.pid) is distinct from (w.host, w.pid)
        and o.started_at < w.seen_at and o.seen_at > w.seen_at - interval '6 seconds'
      where w.id = lease_owner), false))`;

/**
 * Of an account, what counts against its limit of running tasks. A task with an unconfirmed start only waits for
 * its deadline: nothing more is sent for it.
 */
const RUNNING = `o.state in ('submitting', 'running', 'storing')
          and not (o.state = 'submitting' and o.lease_owner is null and o.lease_until >= o.deadline_at)`;

const NOTE_CRASHES = `noted as (
  insert into task_event (task_id, attempt, kind, worker) select id, attempt, 'lapsed', lease_owner from begun where crashed
)`;

/** Only what counts against the task is noted: a vendor that is busy for an hour would fill pages. */
const NOTE_RETRY = (kind: 'requeued' | 'retried'): string => `noted as (
  insert into task_event (task_id, attempt, kind, detail) select id, attempt, '${kind}', $3 from transitioned where $5 > 0
)`;

/** What every claim does to a row, by `begun` and the parameters of the claims. */
const TAKE = `state = case state when 'queued' then 'submitting' else state end,
  attempt = attempt + 1, version = version + 1, lease_owner = $2,
  lease_until = now() + $3::integer * interval '1 millisecond', started_at = coalesce(started_at, now()),
  lapses = lapses + case when id = any(array(select id from begun where crashed)) then 1 else 0 end,
  sudden_lapses = sudden_lapses + case when id = any(array(select id from begun where crashed and early)) then 1 else 0 end,
  step_renewed_at = null`;

/** How many tasks an account gets at most: its even share, if it has room for it. */
const SHARE = `least(turns.room, ceil($4::numeric / (select count(*) from turns))::bigint)`;

/**
 * $1 medium, $2 owner, $3 lease in ms, $4 most rows, $5 models that are passed over, $6 `{ model: most rows of it }`,
 * $7 `{ account: most rows of it }`. Takes what is due, fairly.
 *
 * First come steps that were begun: files to fetch, and work whose worker went silent. Then queued tasks, account by
 * account: the one with the least work in progress goes first, weighed by its tier (each step of priority doubles the share),
 * and chance decides between equals, so that a long backlog never stands before another account's first task. Within an
 * account the order is that of submission. Accounts and keys at their limit of running tasks are passed over; workers
 * that claim at the very same moment may pass a limit by what they claim then. Queued tasks that no vendor would take now
 * stay where they are and are not looked at, however many they are: it steps from one account, key and model with waiting
 * tasks to the next.
 */
export const CLAIM_DUE = `
with recursive kind as (
  (select account_id, api_key_id, model from task where medium = $1 and state = 'queued'
    order by account_id, api_key_id, model limit 1)
  union all
  select later.account_id, later.api_key_id, later.model from kind k cross join lateral (
    select t.account_id, t.api_key_id, t.model from task t where t.medium = $1 and t.state = 'queued'
      and (t.account_id, t.api_key_id, t.model) > (k.account_id, k.api_key_id, k.model)
    order by t.account_id, t.api_key_id, t.model limit 1) later
), due as materialized (
  select k.account_id, k.api_key_id, k.model from kind k where k.model <> all($5::text[]) and exists (
    select from task q where q.medium = $1 and q.state = 'queued' and q.account_id = k.account_id
      and q.api_key_id = k.api_key_id and q.model = k.model and q.lease_until <= now())
), waiting as (
  select distinct account_id from due
), begun as (
  select id, attempt, lease_owner, ${CRASHED} as crashed, ${EARLY} as early from task
  where medium = $1 and state in ('submitting', 'storing') and lease_until <= now() and deadline_at > now()
    and (lapses = 0 or (lapses = 1 and lease_owner is null))
  order by lease_until limit $4 for update skip locked
), able as (
  select a.id as account_id, power(2, a.priority) as weight, in_hand.tasks as in_hand,
    least(coalesce(($7::jsonb ->> a.id)::bigint, $4::bigint), case when a.max_running_tasks is null then $4::bigint
      else a.max_running_tasks - (
        select count(*) from (
          select from task o where o.account_id = a.id and o.finished_at is null
            and ${RUNNING} limit a.max_running_tasks) o) end) as room
  from waiting w join account a on a.id = w.account_id
  cross join lateral (
    select count(*) as tasks from (
      select from task o where o.account_id = a.id and o.finished_at is null
        and o.state in ('submitting', 'storing') and o.lease_owner is not null limit 1000) o) in_hand
), turns as (
  select account_id, room, row_number() over (order by in_hand / weight, -ln(1 - random()) / weight) as turn
  from able where room > 0 order by turn limit $4
), limited_key as (
  select k.id, k.max_running_tasks - (
    select count(*) from (
      select from task o where o.account_id = k.account_id and o.api_key_id = k.id and o.finished_at is null
        and ${RUNNING} limit k.max_running_tasks) o) as room
  from turns join api_key k on k.account_id = turns.account_id where k.max_running_tasks is not null
), ranked as (
  select picked.id, turns.turn, picked.lease_until, coalesce(k.room, $4::bigint) as key_room,
    row_number() over (partition by picked.api_key_id order by picked.lease_until) as place_of_key,
    coalesce(($6::jsonb ->> picked.model)::bigint, $4::bigint) as model_room,
    row_number() over (partition by picked.model order by turns.turn, picked.lease_until) as place_of_model
  from turns cross join lateral (
    select q.id, d.api_key_id, q.lease_until, d.model from due d cross join lateral (
      select t.id, t.lease_until from task t
      where t.medium = $1 and t.state = 'queued' and t.account_id = d.account_id and t.api_key_id = d.api_key_id
        and t.model = d.model and t.lease_until <= now() and t.deadline_at > now() and t.lapses < ${CRASHES_BEFORE_QUARANTINE}
      order by t.lease_until limit ${SHARE} for update skip locked) q
    where d.account_id = turns.account_id and d.api_key_id <> all(array(select id from limited_key where room <= 0))
    order by q.lease_until limit ${SHARE}) picked
  left join limited_key k on k.id = picked.api_key_id
), queued as (
  select id from ranked where place_of_key <= key_room and place_of_model <= model_room
  order by turn, lease_until limit greatest($4 - (select count(*) from begun), 0)
), ${NOTE_CRASHES}
update task set ${TAKE}, step_began_at = now()
where id = any(array(select id from begun union all select id from queued))
returning *, ${RENAMED_COLUMNS}, now() as claimed_at`;

/**
 * $1 medium, $2 owner, $3 lease in ms, $4 how long it must have been due, in ms. Takes the one task that is due and whose
 * attempts ended without a word, `CRASHES_BEFORE_QUARANTINE` of them or more: the claim above leaves those alone. It only keeps the task;
 * `BEGIN_STEP` says when the work begins. An attempt whose crash is still to be counted counts for that.
 */
export const CLAIM_SUSPECT = `
with begun as (
  select id, attempt, lease_owner, ${CRASHED} as crashed, ${EARLY} as early from task
  where medium = $1 and lapses > 0 and lease_until is not null
    and lease_until <= now() - $4::integer * interval '1 millisecond' and deadline_at > now()
    and (lapses >= ${CRASHES_BEFORE_QUARANTINE} or lease_owner is not null)
  order by lapses, lease_until limit 1 for update skip locked
), ${NOTE_CRASHES}
update task set ${TAKE}, step_began_at = null
where id = any(array(select id from begun))
returning *, ${RENAMED_COLUMNS}, now() as claimed_at`;

/** $1 task id, $2 attempt, $3 owner. The work on a task that was only kept so far begins. */
export const BEGIN_STEP = `
update task set step_began_at = now(), step_renewed_at = null
where id = $1 and attempt = $2 and lease_owner = $3
returning id`;

/** $1 medium, $2 owner. A worker that ends in good order gives back what it could not finish: that is no crash. */
export const GIVE_BACK = `
update task set lease_owner = null, lease_until = now()
where medium = $1 and state in ('submitting', 'storing') and lease_owner = $2
returning id`;

/**
 * $1 task id, $2 attempt, $3 lease in ms, $4 owner. Says that the worker is alive; zero rows means that it lost the task,
 * or has given it back: a renewal that is late must not put off the next attempt.
 */
export const RENEW_LEASE = `
update task set lease_until = now() + $3::integer * interval '1 millisecond', step_renewed_at = now()
where id = $1 and attempt = $2 and lease_owner = $4
returning id`;

/**
 * $1 task id, $2 attempt, $3 reason, $4 delay in ms, $5 how many failures it counts as. Back to the queue: the vendor
 * certainly did not take the order.
 */
export const REQUEUE = `
with transitioned as (
  update task set state = 'queued', start_intent_at = null, failures = failures + $5, last_failure = $3,
    lease_owner = null, version = version + 1, lease_until = now() + $4::integer * interval '1 millisecond'
  where id = $1 and attempt = $2 and state = 'submitting'
  returning id, attempt
), ${NOTE_RETRY('requeued')}
select id from transitioned`;

/**
 * $1 task id, $2 attempt, $3 reason, $4 delay in ms, $5 how many failures it counts as. The same step again later,
 * which keeps the record of an earlier start.
 */
export const RETRY_LATER = `
with transitioned as (
  update task set failures = failures + $5, last_failure = $3, lease_owner = null,
    lease_until = now() + $4::integer * interval '1 millisecond'
  where id = $1 and attempt = $2 and state in ('submitting', 'storing')
  returning id, attempt
), ${NOTE_RETRY('retried')}
select id from transitioned`;

/** $1 task id, $2 attempt. The call to the vendor came back without an answer, so nothing more of it is under way. */
export const RECORD_START_END = `
update task set start_ended_at = now() where id = $1 and attempt = $2 and state = 'submitting' returning id`;

/** $1 task id, $2 attempt, $3 reason. It is unknown whether the vendor accepted it: nothing more is sent; the deadline decides. */
export const AWAIT_DEADLINE = `
with transitioned as (
  update task set lease_owner = null, lease_until = deadline_at, last_failure = $3
  where id = $1 and attempt = $2 and state = 'submitting'
  returning id, attempt
), noted as (
  insert into task_event (task_id, attempt, kind, detail) select id, attempt, 'unconfirmed', $3 from transitioned
)
select id from transitioned`;

/**
 * $1 task id, $2 account id. Records that the owner wants to stop work that a vendor may hold, and makes the request to the
 * vendor due at once. A schedule written by the very move to `running` that this waited for cannot be seen here; only the
 * upsert finds it.
 */
export const REQUEST_CANCEL = `
with wished as (
  update task set cancel_requested_at = now(), cancel_outcome = null, version = version + 1
  where id = $1 and account_id = $2 and state in ('submitting', 'running')
  returning id, state, provider, operation
), hurried as (
  insert into task_poll (task_id, provider, operation, next_poll_at, cancel_requested)
  select id, provider, operation, now(), true from wished where state = 'running'
  on conflict (task_id) do update set cancel_requested = true, next_poll_at = now()
)
select id from wished`;

/** $1 task id, $2 outcome. The vendor would not stop: the work continues as if nothing had been asked. */
export const REFUSE_CANCEL = `
with refused as (
  update task_poll set cancel_requested = false where task_id = $1
)
update task set cancel_outcome = $2, version = version + 1 where id = $1 and state = 'running' returning id`;

/** $1 medium, $2 most rows. Open tasks past their deadline, whatever they wait for, but for those that would not end lately. */
export const PAST_DEADLINE = `
select id, state, attempt, provider as upstream_id, operation, outputs, start_intent_at is not null as "startedUpstream", model,
  account_id as "accountId", cancel_requested_at is not null as "cancelRequested" from task
where medium = $1 and finished_at is null and deadline_at <= now() and ${notPaused('deadline', 'task.id')}
order by deadline_at limit $2`;
