import { backoffSql, type CircuitPolicy } from '#platform';

/** The types of events that endpoints can ask for. A test call has a type of its own and always arrives. */
export const WEBHOOK_EVENTS = ['task.completed', 'task.failed', 'task.cancelled', 'balance.low'] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** The type of a test call. */
export const TEST_EVENT = 'webhook.test';

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
  /** The receiver did not answer lately and cools down: the delivery went back to waiting and must not be sent. */
  readonly cooling_down: boolean;
  /** How often the receiver did not answer of late. */
  readonly failures: number;
  /** Where its account stood in the order of turns. */
  readonly turn: number;
}

/**
 * $1 most rows. Makes ready what has waited until its time, and what was claimed by a process that died. Costs as much as
 * there is due, however much waits.
 */
export const MAKE_READY = `
update webhook_delivery set ready = true
where id = any(array(
  select id from webhook_delivery where not ready and next_attempt_at <= now() order by next_attempt_at limit $1
  for update skip locked))
returning id`;

const READY = 'd.ready and d.next_attempt_at is not null';
/** Host and port of an address, as the index has them: no host that has an address is longer. */
export const receiverOf = (url: string): string => `left(split_part(${url}, '/', 3), 260)`;
const RECEIVER = receiverOf('d.url');

/** Steps over the index from one account to the next, at most $1 times, within a range of account ids. */
const stepOverAccounts = (range: string): string => `
  (select d.account_id, 1 as nth from webhook_delivery d where ${READY} and d.account_id ${range}
    order by d.account_id limit 1)
  union all
  select (select d.account_id from webhook_delivery d
      where ${READY} and d.account_id > s.account_id and d.account_id ${range} order by d.account_id limit 1), s.nth + 1
  from step s where s.account_id is not null and s.nth < $1`;

/** Steps over the receivers of the account `a` in the same way. Those that can take nothing now count as steps too. */
const stepOverReceivers = (range: string): string => `
  (select ${RECEIVER} as receiver, 1 as nth from webhook_delivery d
    where ${READY} and d.account_id = a.account_id and ${RECEIVER} ${range} order by ${RECEIVER} limit 1)
  union all
  select (select ${RECEIVER} from webhook_delivery d
      where ${READY} and d.account_id = a.account_id and ${RECEIVER} > s.receiver and ${RECEIVER} ${range}
      order by ${RECEIVER} limit 1), s.nth + 1
  from step s where s.receiver is not null and s.nth < a.room + a.busy`;

/**
 * $1 most rows, $2 lease in ms, $3 most calls at once to one receiver of an account, $4 most calls at once of one account,
 * $5 the account that was served last, $6 to $9 side by side: accounts, a receiver of each that is being called, the calls
 * under way to it, the receiver of the account that was served last; $10 how many rows go to accounts that have more than
 * $11 calls under way; the others are kept for accounts with few. $12 failures after which a receiver cools down, $13
 * seconds after which a delivery to such a receiver is given up.
 *
 * Accounts take turns, and within each account its receivers, so that an account with much to send delays only itself.
 * Both are found by stepping over the index of what is ready, as far as there is room: the cost depends neither on how
 * much waits nor on how much is ready. Among many accounts each gets few at a time. Deliveries to a receiver that cools
 * down go back to waiting, and are returned with \`cooling_down\`; one that did not answer lately gets one call at a
 * time. What a process that died had claimed is claimed by another when the lease is over.
 */
export const CLAIM_DELIVERIES = `
with calls as (
  select * from unnest($6::text[], $7::text[], $8::integer[], $9::text[]) as c(account_id, receiver, calls, served)
), accounts as (
  select account_id, nth from (with recursive step as (${stepOverAccounts('> $5::text')}) select * from step) later
  union all
  select account_id, $1 + nth from (with recursive step as (${stepOverAccounts('<= $5::text')}) select * from step) earlier
), able as (
  select a.account_id, a.nth, c.busy, c.served,
    least($4::integer - c.busy, greatest(2, 2 * $1 / (select count(account_id) from accounts)))::integer as room
  from accounts a cross join lateral (
    select coalesce(sum(calls), 0)::integer as busy, coalesce(max(served), '') as served
    from calls where calls.account_id = a.account_id) c
  where a.account_id is not null and $4::integer > c.busy
), receivers as (
  select a.*, r.receiver, r.step, w.failures, coalesce(w.cooling_until > now(), false) as cooling_down, w.cooling_until,
    case when w.failures >= $12::integer then 1 else $3::integer end - coalesce(c.calls, 0) as places
  from able a cross join lateral (
    select receiver, nth as step from (with recursive step as (${stepOverReceivers('> a.served')}) select * from step) later
    union all
    select receiver, 1000000 + nth from (with recursive step as (${stepOverReceivers('<= a.served')}) select * from step) earlier
  ) r
  -- The limit keeps the planner from reading the whole table for a few receivers.
  left join lateral (
    select failures, cooling_until from webhook_receiver
    where webhook_receiver.account_id = a.account_id and webhook_receiver.receiver = r.receiver limit 1) w on true
  left join calls c on c.account_id = a.account_id and c.receiver = r.receiver
  where r.receiver is not null
), picked as (
  select r.*, p.id, p.next_attempt_at, p.nth_of_receiver
  from receivers r cross join lateral (
    select q.id, q.next_attempt_at, row_number() over (order by q.next_attempt_at) as nth_of_receiver from (
      select d.id, d.next_attempt_at from webhook_delivery d
      where ${READY} and d.account_id = r.account_id and ${RECEIVER} = r.receiver and d.next_attempt_at <= now()
      order by d.next_attempt_at limit case when r.cooling_down then 200 else greatest(r.places, 0) end
      for update skip locked) q
  ) p
), ranked as (
  select *, row_number() over (partition by account_id order by nth_of_receiver, step) as nth_of_account
  from picked where not cooling_down
), ordered as (
  select *, row_number() over (order by nth_of_account, nth) as place from ranked where nth_of_account <= room
), chosen as (
  select id, nth, failures, cooling_down, cooling_until from ordered
  where place <= $1 and (place <= $10::integer or busy + nth_of_account <= $11::integer)
  union all
  select id, nth, failures, cooling_down, cooling_until from picked where cooling_down
)
update webhook_delivery d set ready = false,
  attempts = case when c.cooling_down then attempts else attempts + 1 end,
  next_attempt_at = case when not c.cooling_down then now() + $2::integer * interval '1 millisecond'
    when d.created_at < now() - $13::integer * interval '1 second' then null else c.cooling_until end,
  state = case when c.cooling_down and d.created_at < now() - $13::integer * interval '1 second' then 'failed' else state end,
  finished_at = case when c.cooling_down and d.created_at < now() - $13::integer * interval '1 second' then now() end
from chosen c where d.id = any(array(select id from chosen)) and d.id = c.id
returning d.id, d.account_id, d.endpoint_id, d.task_id, d.event_type, d.url, ${RECEIVER} as receiver, d.payload, d.attempts,
  d.created_at, c.cooling_down, coalesce(c.failures, 0) as failures, c.nth::integer as turn`;

/**
 * The circuits of receivers: three calls in a row without an answer open one, and then one call at a time probes it. They stand in
 * rows that the claim reads, and not in `Cooldowns`: users name as many receivers as they like, and no process but the one
 * that is about to call one has to know how it does.
 */
export const RECEIVER_POLICY: CircuitPolicy = { failures: 3, firstMs: 5_000, longestMs: 600_000, spread: 0.1 };
const { failures: MOST } = RECEIVER_POLICY;

/** $1 account, $2 receiver. Counts a call without an answer; calls that began before a cooldown and end in it count for nothing. */
export const RECORD_FAILURE = `
insert into webhook_receiver as w (account_id, receiver, failures, cooling_until) values ($1, $2, 1, now())
on conflict (account_id, receiver) do update set
  failures = least(w.failures + 1, 1000),
  cooling_until = case when w.failures + 1 < ${MOST} then now()
    else now() + ${backoffSql(RECEIVER_POLICY, `w.failures + 1 - ${MOST}`)} end
where w.cooling_until <= now()`;

/** $1 account, $2 receiver. It answered. */
export const RECORD_SUCCESS = `delete from webhook_receiver where account_id = $1 and receiver = $2`;

/** $1 seconds. Forgets receivers that nothing was sent to for so long. */
export const FORGET_OLD_FAILURES = `
delete from webhook_receiver where (account_id, receiver) in (
  select account_id, receiver from webhook_receiver where cooling_until < now() - $1::integer * interval '1 second' limit 1000)`;

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
