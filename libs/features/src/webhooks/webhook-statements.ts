/** A delivery that this process is to send now. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly account_id: string;
  readonly endpoint_id: string | null;
  readonly task_id: string | null;
  readonly event_type: string;
  readonly url: string;
  /** Empty until the first attempt has written it. */
  readonly payload: string;
  /** This attempt included. */
  readonly attempts: number;
  readonly created_at: Date;
}

/** $1 most rows, $2 lease in ms. Takes what is due; who dies with it leaves it to another when the lease is over. */
export const CLAIM_DELIVERIES = `
update webhook_delivery set attempts = attempts + 1, next_attempt_at = now() + $2::integer * interval '1 millisecond'
where id = any(array(
  select id from webhook_delivery where next_attempt_at <= now() order by next_attempt_at limit $1 for update skip locked))
returning id, account_id, endpoint_id, task_id, event_type, url, payload, attempts, created_at`;

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
