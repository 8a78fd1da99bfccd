import { entrySql, kindSql } from '#contracts';
import { notPaused } from '../../observability/paused-work.js';
import {
  ACCOUNT_BOOKS,
  ACCOUNT_HEADROOM,
  endings,
  explainAndSum,
  KEY_BOOKS,
  KEY_SPARE,
  withAndWithoutTags,
} from './request-statements.js';

/**
 * Puts a reservation aside for a key: what is wanted, but at most one `share`th of what the account and the key's quota
 * have left, and nothing when that is less than the least wanted or the account is in debt. Locks as every money statement does: accounts first.
 *
 * $1 its id, $2 account, $3 key, $4 micros wanted, $5 the least micros, $6 share, $7 seconds it lives without renewal, $8 the
 * process that holds it, or null.
 */
export const OPEN_RESERVATION = `
with locked as (
  select ${ACCOUNT_BOOKS}, least(case when not a.unlimited then a.available_micros end, ${ACCOUNT_HEADROOM}) as spare
  from account a where a.id = $2 and a.disabled_at is null and (a.unlimited or a.owed_micros = 0) for no key update
), sized as (
  select ${KEY_BOOKS}, k.account_id,
    least($4::bigint, l.spare / $6::bigint, ${KEY_SPARE} / $6::bigint) as amount
  from api_key k join locked l on l.id = k.account_id where k.id = $3 and k.revoked_at is null for no key update of k
), granted as (
  select * from sized where amount >= $5::bigint
), charged as (
  update account a set unlimited = l.unlimited, available_micros = l.available_micros - g.amount, held_micros = l.held_micros + g.amount
  from granted g join locked l on l.id = g.account_id where a.id = g.account_id
), keyed as (
  update api_key k set quota_micros = g.quota_micros, held_micros = g.held_micros + g.amount, used_micros = g.used_micros
  from granted g where k.id = g.id
), entered as (
  insert into ledger_entry (account_id, api_key_id, request_id, kind, debit, credit, amount_micros)
  select account_id, id, $1, ${entrySql('hold')}, amount from granted
)
insert into request_hold (request_id, account_id, api_key_id, amount_micros, expires_at, is_reservation, process_id)
select $1, account_id, id, amount, now() + $7::integer * interval '1 second', true, $8::text from granted
returning amount_micros`;

/**
 * Charges requests to reservations: ledger, reservation, balances, usage record and daily sums, in one statement and one
 * commit. The ledger's unique index is the guard: a request that was charged before is not answered, and moves nothing;
 * nor does one whose reservation is gone. Each comes with whether its account owes money, so that the reservation is used no further.
 *
 * $1 the endings as JSON; no charge may be more than what its reservation still has.
 */
const captureFromReservations = (hasTags: boolean): string => `
with ${endings(', reservation_id text')}, locked as (
  select a.id from account a
  where a.id in (select h.account_id from request_hold h join incoming i on i.reservation_id = h.request_id)
  order by a.id for no key update
), standing as (
  select h.request_id as reservation_id, h.account_id, h.api_key_id
  from request_hold h join locked l on l.id = h.account_id where h.request_id in (select reservation_id from incoming)
  order by h.request_id for no key update of h
), locked_key as (
  select k.id from api_key k where k.id in (select api_key_id from standing) order by k.id for no key update
), entered as (
  insert into ledger_entry (account_id, api_key_id, request_id, hold_id, kind, debit, credit, amount_micros)
  select s.account_id, s.api_key_id, i.request_id, s.reservation_id, ${entrySql('capture')}, i.charge_micros
  from incoming i join standing s using (reservation_id) join locked_key k on k.id = s.api_key_id
  on conflict (request_id, kind)
    where task_id is null and request_id is not null and kind in (${kindSql('hold')}, ${kindSql('capture')}, ${kindSql('release')}) do nothing
  returning request_id, account_id, api_key_id
), settled as (
  select i.*, e.account_id, e.api_key_id, i.charge_micros as paid_micros, 0::bigint as owed_micros
  from entered e join incoming i using (request_id)
), drawn as (
  update request_hold h set amount_micros = h.amount_micros - s.paid
  from (select reservation_id, sum(paid_micros)::bigint as paid from settled group by reservation_id) s
  where h.request_id = s.reservation_id
), paid as (
  update account a set held_micros = a.held_micros - s.paid, used_micros = a.used_micros + s.paid
  from (select account_id, sum(paid_micros)::bigint as paid from settled group by account_id) s
  where a.id = s.account_id returning a.id, not a.unlimited and a.owed_micros > 0 as in_debt
), keyed as (
  update api_key k set held_micros = k.held_micros - s.paid, used_micros = k.used_micros + s.paid
  from (select api_key_id, sum(paid_micros)::bigint as paid from settled group by api_key_id) s
  where k.id = s.api_key_id
), ${explainAndSum(hasTags)}
select s.request_id, p.in_debt from settled s join paid p on p.id = s.account_id`;

export const captureStatement = withAndWithoutTags('capture_from_reservations', captureFromReservations);

/** Gives back what reservations have left. $1 their ids. */
export const CLOSE_RESERVATIONS = `
with locked as (
  select a.id from account a where a.id in (select account_id from request_hold where request_id = any($1))
  order by a.id for no key update
), freed as (
  delete from request_hold h using locked l
  where h.request_id = any($1) and h.is_reservation and l.id = h.account_id
  returning h.request_id, h.account_id, h.api_key_id, h.amount_micros
), paid as (
  update account a set held_micros = a.held_micros - s.freed, available_micros = a.available_micros + s.freed
  from (select account_id, sum(amount_micros)::bigint as freed from freed group by account_id) s where a.id = s.account_id
), keyed as (
  update api_key k set held_micros = k.held_micros - s.freed
  from (select api_key_id, sum(amount_micros)::bigint as freed from freed group by api_key_id) s where k.id = s.api_key_id
)
insert into ledger_entry (account_id, api_key_id, request_id, kind, debit, credit, amount_micros)
select account_id, api_key_id, request_id, ${entrySql('release')}, amount_micros from freed
returning request_id`;

/** $1 ids, $2 seconds. Answers those that still stand. Rows that are being charged live anyway until the next renewal. */
export const RENEW_RESERVATIONS = `
with standing as (
  select request_id from request_hold where request_id = any($1) and is_reservation
), renewed as (
  update request_hold set expires_at = now() + $2::integer * interval '1 second'
  where request_id = any(array(
    select request_id from request_hold where request_id in (select request_id from standing) for update skip locked))
)
select request_id from standing`;

/**
 * Reservations whose process must be dead, but for those that could not be given back lately. $1 the most to answer, $2
 * processes that are known to be dead.
 */
export const ABANDONED_RESERVATIONS = `
select request_id from request_hold where (expires_at <= now() or process_id = any($2)) and is_reservation
  and ${notPaused('abandoned-reservation', 'request_hold.request_id')} order by expires_at limit $1`;
