import { kindSql, type LedgerKind } from '#contracts';

/** A statement that answers one row for each thing that does not add up: what, and both numbers as text. */
export interface ReconciliationCheck {
  readonly name: string;
  /** One sentence: what holds when there are no findings. */
  readonly claim: string;
  /** $1: the entries up to this id were proved before and are summed up in `ledger_sum` and `ledger_open_hold`; 0 reads everything. */
  readonly text: string;
  /** True: only when everything is read. */
  readonly onlyFull?: true;
}

/** The most findings of one check that a report lists. */
export const FINDINGS_MAX = 100;

const book = (name: string): string =>
  `coalesce(sum(case when credit = '${name}' then amount_micros when debit = '${name}' then -amount_micros end), 0)`;

/** What entries add up to in the books of accounts and keys. `entries` is the rest of a FROM clause. */
export const sumsOfEntries = (entries: string): string => `
  select account_id, coalesce(api_key_id, '') as api_key_id, ${book('available')}::bigint as available_micros,
    ${book('held')}::bigint as held_micros, ${book('revenue')}::bigint as used_micros,
    (-${book('owed')})::bigint as owed_micros
  from ledger_entry ${entries} group by 1, 2`;

const SUMS = `
  select account_id, api_key_id, available_micros, held_micros, used_micros, owed_micros from ledger_sum where $1::bigint > 0
  union all ${sumsOfEntries('where id > $1::bigint')}`;

const kindSum = (kind: LedgerKind): string => `coalesce(sum(amount_micros) filter (where kind = ${kindSql(kind)}), 0)`;

/** What entries leave open of holds and reservations of requests. `entries` is the rest of a FROM clause. */
export const openHolds = (entries: string): string => `
  select coalesce(hold_id, request_id) as hold_id,
    (${kindSum('hold')} - ${kindSum('capture')} - ${kindSum('release')})::bigint as open_micros
  from ledger_entry ${entries} and task_id is null and request_id is not null group by 1
  having ${kindSum('hold')} <> ${kindSum('capture')} + ${kindSum('release')}`;

/** Every invariant of the gateway's money. */
export const RECONCILIATION_CHECKS: readonly ReconciliationCheck[] = [
  {
    name: 'account_balances',
    claim: 'What an account has, holds and paid is the sum of its entries.',
    text: `
select a.id as subject, concat_ws(' / ', coalesce(s.available, 0), coalesce(s.held, 0), coalesce(s.used, 0)) as expected,
  concat_ws(' / ', a.available_micros, a.held_micros, a.used_micros) as found
from account a left join (
  select account_id, sum(available_micros) as available, sum(held_micros) as held, sum(used_micros) as used
  from (${SUMS}) as sums group by account_id
) s on s.account_id = a.id
where (a.available_micros, a.held_micros, a.used_micros)
  is distinct from (coalesce(s.available, 0), coalesce(s.held, 0), coalesce(s.used, 0))
limit ${FINDINGS_MAX}`,
  },
  {
    name: 'debts',
    claim: 'What an account owes is what could not be collected, less what was collected of it since.',
    text: `
select a.id as subject, coalesce(s.owed, 0)::text as expected, a.owed_micros::text as found
from account a left join (
  select account_id, sum(owed_micros) as owed from (${SUMS}) as sums group by account_id
) s on s.account_id = a.id
where a.owed_micros <> coalesce(s.owed, 0)
limit ${FINDINGS_MAX}`,
  },
  {
    name: 'key_balances',
    claim: 'What a key holds and paid is the sum of its entries.',
    text: `
select k.id as subject, concat_ws(' / ', coalesce(s.held, 0), coalesce(s.used, 0)) as expected,
  concat_ws(' / ', k.held_micros, k.used_micros) as found
from api_key k left join (
  select api_key_id, sum(held_micros) as held, sum(used_micros) as used from (${SUMS}) as sums group by api_key_id
) s on s.api_key_id = k.id
where (k.held_micros, k.used_micros) is distinct from (coalesce(s.held, 0), coalesce(s.used, 0))
limit ${FINDINGS_MAX}`,
  },
  {
    name: 'open_holds',
    claim: 'What an account holds is what its open tasks and requests hold.',
    text: `
select a.id as subject, coalesce(o.held, 0)::text as expected, a.held_micros::text as found
from account a left join (
  select account_id, sum(micros) as held from (
    select account_id, hold_micros as micros from task where finished_at is null
    union all select account_id, amount_micros from request_hold
  ) as holds group by account_id
) o on o.account_id = a.id
where a.held_micros <> coalesce(o.held, 0)
limit ${FINDINGS_MAX}`,
  },
  {
    name: 'task_holds',
    claim: 'A task holds its price from its first moment; an ended task holds nothing, an open one all of it.',
    text: `
with looked as materialized (
  select id from task where $1::bigint = 0 or finished_at is null
  union select task_id from ledger_entry where id > $1::bigint and task_id is not null
)
select t.id as subject,
  case when t.finished_at is null then t.hold_micros else 0 end::text as expected,
  case when s.held_at < t.created_at then 'a hold older than its task' else coalesce(s.open, 0)::text end as found
from looked join task t on t.id = looked.id left join (
  select task_id, ${kindSum('hold')} - ${kindSum('capture')} - ${kindSum('release')} as open, ${kindSum('hold')} as hold,
    ${kindSum('capture')} as captured, min(created_at) filter (where kind = ${kindSql('hold')}) as held_at
  from ledger_entry where task_id in (select id from looked) group by task_id
) s on s.task_id = t.id
where coalesce(s.hold, -1) <> t.hold_micros or s.held_at < t.created_at
  or coalesce(s.open, 0) <> case when t.finished_at is null then t.hold_micros else 0 end
  or coalesce(s.captured, 0) <> coalesce(t.charged_micros, 0)
limit ${FINDINGS_MAX}`,
  },
  {
    name: 'request_holds',
    claim:
      'What a hold or a reservation has left is on the list of open holds, and not forgotten there; a settled one has nothing.',
    text: `
select coalesce(s.hold_id, h.request_id) as subject, coalesce(h.amount_micros, 0)::text as expected,
  case when h.expires_at < now() - interval '1 hour' then 'an abandoned hold' else coalesce(s.open, 0)::text end as found
from (
  select hold_id, sum(open_micros) as open from (
    select hold_id, open_micros from ledger_open_hold where $1::bigint > 0
    union all ${openHolds('where id > $1::bigint')}
  ) as holds group by hold_id
) s full join request_hold h on h.request_id = s.hold_id
where coalesce(s.open, 0) <> coalesce(h.amount_micros, 0) or h.expires_at < now() - interval '1 hour'
limit ${FINDINGS_MAX}`,
  },
  {
    name: 'daily_sums',
    claim: 'What the daily sums of an account add up to is what it paid.',
    text: `
select a.id as subject, a.used_micros::text as expected, coalesce(sum(d.amount_micros), 0)::text as found
from account a left join (
  select account_id, amount_micros from usage_daily_by_account where $1::bigint > 0
  union all
  select account_id, amount_micros from usage_daily
  where $1::bigint = 0 or day > coalesce((select max(day) from usage_closed_day), '-infinity')
) d on d.account_id = a.id
group by a.id having a.used_micros <> coalesce(sum(d.amount_micros), 0)
limit ${FINDINGS_MAX}`,
  },
  {
    name: 'closed_days',
    claim: 'The sums of a closed day, by model, account and key, are those of its daily sums.',
    onlyFull: true,
    text: `
with sums as (
  select 'usage_daily' as source, day, requests, amount_micros from usage_daily where $1::bigint = 0
  union all select 'usage_daily_by_model', day, requests, amount_micros from usage_daily_by_model
  union all select 'usage_daily_by_account', day, requests, amount_micros from usage_daily_by_account
  union all select 'usage_daily_by_key', day, requests, amount_micros from usage_daily_by_key
), days as (
  select source, day, concat_ws(' / ', sum(requests), sum(amount_micros)) as total from sums group by source, day
)
select other.source || ' ' || to_char(closed.day, 'YYYY-MM-DD') as subject, coalesce(daily.total, '') as expected,
  coalesce(found.total, '') as found
from usage_closed_day closed
cross join (values ('usage_daily_by_model'), ('usage_daily_by_account'), ('usage_daily_by_key')) as other(source)
left join days daily on daily.source = 'usage_daily' and daily.day = closed.day
left join days found on found.source = other.source and found.day = closed.day
where daily.total is distinct from found.total
limit ${FINDINGS_MAX}`,
  },
];
