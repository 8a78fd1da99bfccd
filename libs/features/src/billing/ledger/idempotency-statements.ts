import { kindSql } from '#contracts';

/** How long one attempt keeps others away without renewing, in seconds. Renewed three times as often. */
export const LOCK_SECONDS = 60;

const LOCK = `interval '${LOCK_SECONDS} seconds'`;

/** $1 account, $2 key, $3 fingerprint, $4 request id, $5 reserved task id, $6 for how many seconds it is kept. */
export const BEGIN = `
insert into idempotency_record (account_id, key, fingerprint, request_id, reserved_task_id, locked_until, expires_at)
values ($1, $2, $3, $4, $5, now() + ${LOCK}, now() + $6::integer * interval '1 second')
on conflict (account_id, key) do update set fingerprint = excluded.fingerprint, request_id = excluded.request_id,
  reserved_task_id = excluded.reserved_task_id, locked_until = excluded.locked_until, expires_at = excluded.expires_at,
  created_at = now(), state = 'in_flight', response_status = null, response_body = null, response_content_type = null
where idempotency_record.expires_at <= now()
returning request_id`;

/** Counts no further than the bound, so that the work is bounded too. $1 account, $2 the bound. */
export const COUNT = `
select count(*)::integer as records from (select from idempotency_record where account_id = $1 limit $2) as known`;

const LAPSED = `account_id = $1 and key = $2 and fingerprint = $3 and state = 'in_flight' and locked_until <= now()`;

/** The attempt that has lost the right to work, because it died or stalled. $1 account, $2 key, $3 fingerprint. */
export const LAPSED_ATTEMPT = `select request_id from idempotency_record where ${LAPSED}`;

/**
 * Takes over from an attempt that has no open hold any more. The new name of the record shuts the old attempt out of
 * it; only one that was charged keeps its name, so that it is not charged again. $1 account, $2 key, $3 fingerprint, $4 request
 * id of the lapsed attempt, $5 request id of the new one.
 */
export const RESUME = `
update idempotency_record set locked_until = now() + ${LOCK}, request_id = case when exists (
  select from ledger_entry where request_id = $4 and task_id is null and amount_micros > 0
    and kind in (${kindSql('capture')}, ${kindSql('overrun')}, ${kindSql('debt')})
) then $4 else $5 end
where ${LAPSED} and request_id = $4
returning request_id, reserved_task_id`;

export const READ = `
select fingerprint, state, response_status, response_body, response_content_type
from idempotency_record where account_id = $1 and key = $2`;

/** Whether an attempt has the right to work. $1 account, $2 key. */
export const AT_WORK = `
select from idempotency_record where account_id = $1 and key = $2 and state = 'in_flight' and locked_until > now()`;

/** What is at work does not expire. $1 account, $2 key, $3 request id. */
export const RENEW = `
update idempotency_record set locked_until = now() + ${LOCK}, expires_at = greatest(expires_at, now() + ${LOCK})
where account_id = $1 and key = $2 and request_id = $3 and state = 'in_flight'`;

/**
 * The part of a statement that takes money: renews the right of those attempts in `incoming` that still have it, behind
 * the lock of their account (`locked`), and answers their request ids. What is not answered must not pay: another
 * attempt has taken over. The row is changed and not only locked, so that an attempt that takes over at this very moment sees
 * the renewal and lets be.
 */
export const RENEW_RIGHTS = `
  update idempotency_record r set locked_until = now() + ${LOCK}
  from incoming i join locked l on l.id = i.account_id
  where r.account_id = i.account_id and r.key = i.idempotency_key and r.request_id = i.request_id
    and r.state = 'in_flight'
  returning r.request_id`;

/** The same for attempts that may have ended: those in `incoming` that no other attempt has taken over from. */
export const RENEW_STANDING = `
  update idempotency_record r set locked_until = greatest(r.locked_until, now() + ${LOCK})
  from incoming i join locked l on l.id = i.account_id
  where r.account_id = i.account_id and r.key = i.idempotency_key and r.request_id = i.request_id
  returning r.request_id`;

/** From so many bytes on an answer counts, and the most of such that is kept of an account. */
const LONG_ANSWER_BYTES = 16_384;
const LONG_ANSWERS_MAX = 256 * 1024 * 1024;

/** $1 account, $2 key, $3 request id, $4 status, $5 body or null, $6 content type. */
export const FINISH = `
update idempotency_record set state = 'done', response_status = $4, response_body = case
    when octet_length($5::text) < ${LONG_ANSWER_BYTES} then $5
    when coalesce((select repeat_bytes from file_usage where account_id = $1), 0) < ${LONG_ANSWERS_MAX} then $5 end,
  response_content_type = $6
where account_id = $1 and key = $2 and request_id = $3 and state = 'in_flight'`;

export const FORGET = `
delete from idempotency_record where account_id = $1 and key = $2 and request_id = $3 and state = 'in_flight'`;

export const UNLOCK = `
update idempotency_record set locked_until = now()
where account_id = $1 and key = $2 and request_id = $3 and state = 'in_flight'`;

/** The task that an earlier attempt wrote. $1 reserved task id, $2 account. */
export const WRITTEN_TASK = `select id, notices from task where id = $1 and account_id = $2`;
