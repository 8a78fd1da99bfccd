/** A delivery that this process is to send now. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly account_id: string;
  readonly endpoint_id: string | null;
  readonly task_id: string | null;
  readonly event_type: string;
  readonly url: string;
  /** Host and port of the address. */
  readonly receiver: string;
  /** Empty until the first attempt has written it. */
  readonly payload: string;
  /** This attempt included. */
  readonly attempts: number;
  readonly created_at: Date;
}

/**
 * $1 most rows, $2 lease in ms, $3 most calls at once to one receiver, $4 receivers that are being called, $5 how many calls
 * each of them has under way. Takes what is due; who dies with it leaves it to another when the lease is over.
 *
 * Receivers take turns: the oldest delivery of each comes before the second of any, however many wait for one of them. They
 * are found by stepping over the index from one to the next, which costs as much as there are receivers, not deliveries.
 */
export const CLAIM_DELIVERIES = `
with recursive waiting as (
  (select split_part(url, '/', 3) as receiver from webhook_delivery where next_attempt_at is not null
    order by split_part(url, '/', 3) limit 1)
  union all
  select (select split_part(d.url, '/', 3) from webhook_delivery d
    where d.next_attempt_at is not null and split_part(d.url, '/', 3) > w.receiver order by split_part(d.url, '/', 3) limit 1)
  from waiting w where w.receiver is not null
), able as (
  select w.receiver, $3::integer - coalesce(busy.calls, 0) as room
  from waiting w left join unnest($4::text[], $5::integer[]) as busy(receiver, calls) on busy.receiver = w.receiver
  where w.receiver is not null
), ranked as (
  select picked.id, picked.next_attempt_at,
    row_number() over (partition by able.receiver order by picked.next_attempt_at) as turn
  from able cross join lateral (
    select id, next_attempt_at from webhook_delivery d
    where split_part(d.url, '/', 3) = able.receiver and d.next_attempt_at <= now()
    order by d.next_attempt_at limit greatest(able.room, 0) for update skip locked) picked
)
update webhook_delivery set attempts = attempts + 1, next_attempt_at = now() + $2::integer * interval '1 millisecond'
where id = any(array(select id from ranked order by turn, next_attempt_at limit $1))
returning id, account_id, endpoint_id, task_id, event_type, url, split_part(url, '/', 3) as receiver, payload, attempts,
  created_at`;

/** $1 delivery id, $2 payload. */
export const KEEP_PAYLOAD = `update webhook_delivery set payload = $2 where id = $1 and payload = ''`;

/**
 * $1 delivery id, $2 attempt, $3 HTTP status or null, $4 error or null, $5 duration in ms, $6 new state, $7 delay until
 * the next attempt in ms or null. An attempt that was overtaken is logged but decides nothing.
 */
export const RECORD_ATTEMPT = `
with logged as (
  insert into webhook_attempt (delivery_id, attempt, status, error, duration_ms)
  values ($1, $2::integer, $3::integer, $4::text, $5::integer) on conflict do nothing
)
update webhook_delivery set state = $6, last_status = $3, last_error = $4,
  next_attempt_at = now() + $7::integer * interval '1 millisecond',
  finished_at = case when $6 = 'pending' then null else now() end
where id = $1 and attempts = $2 and state = 'pending'`;
