/**
 * Every move of a task, as one guarded statement each. Zero rows back means that somebody else made a move first:
 * stop. Times are the database's own, so the clocks of replicas never matter.
 *
 * Claims add one to `attempt`, the fencing token: whoever held an older attempt can no longer write.
 */

const CLAIMED = `
  state = case state when 'queued' then 'submitting' else state end,
  attempt = attempt + 1, version = version + 1, lease_owner = $OWNER,
  lease_until = now() + $LEASE::integer * interval '1 millisecond',
  started_at = coalesce(started_at, now())`;

/** $1 task id, $2 owner, $3 lease in ms. The path of the doorbell: queued work, or work whose worker went silent. */
export const CLAIM_ONE = `
update task set ${CLAIMED.replace('$OWNER', '$2').replace('$LEASE', '$3')}
where id = $1 and (state = 'queued' or lease_until <= now()) and finished_at is null and deadline_at > now()
returning *`;

/** $1 medium, $2 owner, $3 lease in ms, $4 most rows. The path of the sweeper: whatever is due. */
export const CLAIM_DUE = `
update task set ${CLAIMED.replace('$OWNER', '$2').replace('$LEASE', '$3')}
where id = any(array(
  select id from task where medium = $1 and lease_until <= now() and deadline_at > now()
  order by lease_until limit $4 for update skip locked))
returning *`;

/** $1 task id, $2 attempt, $3 lease in ms. Says that the worker is alive; zero rows means that it lost the task. */
export const RENEW_LEASE = `
update task set lease_until = now() + $3::integer * interval '1 millisecond'
where id = $1 and attempt = $2 and lease_until is not null
returning id`;

/** $1 task id, $2 attempt, $3 provider. The point of no return, written before the vendor is called. */
export const RECORD_START_INTENT = `
update task set start_intent_at = now(), provider = $3
where id = $1 and attempt = $2 and state = 'submitting'
returning id`;

/** $1 task id, $2 attempt, $3 operation, $4 provider, $5 first poll in ms. The vendor took the order. */
export const SET_RUNNING = `
with moved as (
  update task set state = 'running', operation = $3, provider = $4, lease_owner = null, lease_until = null,
    version = version + 1
  where id = $1 and attempt = $2 and state = 'submitting'
  returning id
), scheduled as (
  insert into task_poll (task_id, provider, operation, next_poll_at)
  select id, $4, $3, now() + $5::integer * interval '1 millisecond' from moved
  on conflict (task_id) do nothing
)
select id from moved`;

/** $1 task id, $2 provider, $3 operation. Work at the vendor that no row holds, unless the row already knows it. */
export const RECORD_ORPHAN = `
insert into upstream_orphan (task_id, provider, operation)
select $1, $2, $3::jsonb where not exists (select 1 from task where id = $1 and operation = $3::jsonb)
on conflict do nothing`;

/** $1 task id, $2 attempt, $3 reason, $4 delay in ms. Back to the queue: the vendor certainly did not take the order. */
export const REQUEUE = `
update task set state = 'queued', start_intent_at = null, failures = failures + 1, last_failure = $3,
  lease_owner = null, version = version + 1, lease_until = now() + $4::integer * interval '1 millisecond'
where id = $1 and attempt = $2 and state = 'submitting'
returning id`;

/** $1 task id, $2 attempt, $3 reason, $4 delay in ms. The same step again later, which still knows of an earlier start. */
export const RETRY_LATER = `
update task set failures = failures + 1, last_failure = $3, lease_owner = null,
  lease_until = now() + $4::integer * interval '1 millisecond'
where id = $1 and attempt = $2 and state in ('submitting', 'storing')
returning id`;

/** $1 task id, $2 attempt, $3 reason. Nobody knows whether the vendor took it: nothing more is sent; the deadline decides. */
export const AWAIT_DEADLINE = `
update task set lease_owner = null, lease_until = deadline_at, last_failure = $3
where id = $1 and attempt = $2 and state = 'submitting'
returning id`;

/** $1 most rows, $2 time until the next poll in ms. Rescheduling is the lease: who claims it polls it. */
export const CLAIM_POLLS = `
update task_poll set next_poll_at = now() + $2::integer * interval '1 millisecond', polls = polls + 1
where task_id = any(array(
  select task_id from task_poll where next_poll_at <= now() order by next_poll_at limit $1 for update skip locked))
returning task_id, provider, operation, polls`;

/** $1 task id, $2 delay in ms. */
export const RESCHEDULE_POLL = `
update task_poll set next_poll_at = now() + $2::integer * interval '1 millisecond' where task_id = $1`;

/** $1 task id, $2 percent. Progress only ever grows. */
export const SET_PROGRESS = `
update task set progress = $2, version = version + 1 where id = $1 and state = 'running' and progress < $2`;

/** The schedule is unlogged and empty after a crash of the database; this fills it again from the rows. */
export const REBUILD_POLLS = `
insert into task_poll (task_id, provider, operation, next_poll_at)
select t.id, t.provider, t.operation, now() from task t
where t.state = 'running' and not exists (select 1 from task_poll p where p.task_id = t.id)
on conflict (task_id) do nothing`;

/** $1 task id, $2 outputs. The vendor is done: any worker may now copy the files. */
export const SET_STORING = `
with moved as (
  update task set state = 'storing', outputs = $2, lease_until = now(), progress = greatest(progress, 95),
    version = version + 1
  where id = $1 and state = 'running'
  returning id, medium
), unscheduled as (
  delete from task_poll where task_id = $1
)
select medium from moved`;

/** $1 medium, $2 most rows. Open tasks past their deadline, whatever they wait for. */
export const PAST_DEADLINE = `
select id, state, attempt, start_intent_at is not null as started_upstream from task
where medium = $1 and finished_at is null and deadline_at <= now() order by deadline_at limit $2`;
