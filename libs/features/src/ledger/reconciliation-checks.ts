/** A statement that answers one row for each thing that does not add up: what, and both numbers as text. */
export interface ReconciliationCheck {
  readonly name: string;
  /** One sentence: what holds when there are no findings. */
  readonly claim: string;
  readonly text: string;
}

/** The most findings of one check that a report lists. */
export const FINDINGS_MAX = 100;

const book = (name: string): string =>
  `coalesce(sum(case when credit = '${name}' then amount_micros when debit = '${name}' then -amount_micros end), 0)`;

const kindSum = (kind: string): string => `coalesce(sum(amount_micros) filter (where kind = '${kind}'), 0)`;

/** Every claim the money of the gateway rests on. */
export const RECONCILIATION_CHECKS: readonly ReconciliationCheck[] = [
  {
    name: 'account_balances',
    claim: 'What an account has, holds and paid is the sum of its entries.',
    text: `
select a.id as subject, concat_ws(' / ', coalesce(s.available, 0), coalesce(s.held, 0), coalesce(s.used, 0)) as expected,
  concat_ws(' / ', a.available_micros, a.held_micros, a.used_micros) as found
from account a left join (
  select account_id, ${book('available')} as available, ${book('held')} as held, ${book('revenue')} as used
  from ledger_entry group by account_id
) s on s.account_id = a.id
where (a.available_micros, a.held_micros, a.used_micros)
  is distinct from (coalesce(s.available, 0), coalesce(s.held, 0), coalesce(s.used, 0))
limit ${FINDINGS_MAX}`,
  },
  {
    name: 'key_balances',
    claim: 'What a key holds and paid is the sum of its entries.',
    text: `
select k.id as subject, concat_ws(' / ', coalesce(s.held, 0), coalesce(s.used, 0)) as expected,
  concat_ws(' / ', k.held_micros, k.used_micros) as found
from api_key k left join (
  select api_key_id, ${book('held')} as held, ${book('revenue')} as used
  from ledger_entry where api_key_id is not null group by api_key_id
) s on s.api_key_id = k.id
where (k.held_micros, k.used_micros) is distinct from (coalesce(s.held, 0), coalesce(s.used, 0))
limit ${FINDINGS_MAX}`,
  },
  {
    name: 'task_holds',
    claim: 'A task holds its price from its first moment; an ended task holds nothing, an open one all of it.',
    text: `
select t.id as subject,
  case when t.finished_at is null then t.hold_micros else 0 end::text as expected,
  case when s.held_at < t.created_at then 'a hold older than its task' else coalesce(s.open, 0)::text end as found
from task t left join (
  select task_id, ${kindSum('hold')} - ${kindSum('capture')} - ${kindSum('release')} as open, ${kindSum('hold')} as hold,
    ${kindSum('capture')} as captured, min(created_at) filter (where kind = 'hold') as held_at
  from ledger_entry where task_id is not null group by task_id
) s on s.task_id = t.id
where coalesce(s.hold, -1) <> t.hold_micros or s.held_at < t.created_at
  or coalesce(s.open, 0) <> case when t.finished_at is null then t.hold_micros else 0 end
  or coalesce(s.captured, 0) <> coalesce(t.charged_micros, 0)
limit ${FINDINGS_MAX}`,
  },
  {
    name: 'request_holds',
    claim:
      'A request that answers at once is either settled or still on the list of open holds, and not forgotten there.',
    text: `
select coalesce(s.request_id, h.request_id) as subject, coalesce(h.amount_micros, 0)::text as expected,
  case when h.expires_at < now() - interval '1 hour' then 'an abandoned hold' else coalesce(s.open, 0)::text end as found
from (
  select request_id, ${kindSum('hold')} - ${kindSum('capture')} - ${kindSum('release')} as open
  from ledger_entry where task_id is null and request_id is not null group by request_id
) s full join request_hold h on h.request_id = s.request_id
where coalesce(s.open, 0) <> coalesce(h.amount_micros, 0) or h.expires_at < now() - interval '1 hour'
limit ${FINDINGS_MAX}`,
  },
  {
    name: 'daily_sums',
    claim: 'What the daily sums of an account add up to is what it paid.',
    text: `
select a.id as subject, a.used_micros::text as expected, coalesce(sum(d.amount_micros), 0)::text as found
from account a left join usage_daily d on d.account_id = a.id
group by a.id having a.used_micros <> coalesce(sum(d.amount_micros), 0)
limit ${FINDINGS_MAX}`,
  },
];
