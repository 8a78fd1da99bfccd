import { entrySql, kindSql } from '#contracts';
import { notPaused } from '../../observability/paused-work.js';
import { RENEW_RIGHTS, RENEW_STANDING } from './idempotency-statements.js';
import { COST_COLUMNS, COST_FIELDS, type RequestUsage } from './request-usage.js';

/** What the account's limits of the day and the month leave, and what those of a key and its quota do; null: all. */
export const ACCOUNT_HEADROOM =
  'spend_room(a.id, null, a.used_micros, a.held_micros, a.daily_limit_micros, a.monthly_limit_micros)';
const KEY_HEADROOM =
  'spend_room(k.account_id, k.id, k.used_micros, k.held_micros, k.daily_limit_micros, k.monthly_limit_micros)';
export const KEY_SPARE = `least(k.quota_micros - k.held_micros - k.used_micros, ${KEY_HEADROOM})`;

/**
 * What a statement takes of accounts `a` and keys `k` when it locks them. It writes them from that, and never from the rows as it
 * first saw them: where it waited for another statement, Postgres checks conditions and constraints on the old ones as well.
 */
export const ACCOUNT_BOOKS = 'a.id, a.unlimited, a.available_micros, a.held_micros, a.used_micros, a.owed_micros';
export const KEY_BOOKS = 'k.id, k.quota_micros, k.held_micros, k.used_micros';

/** What an account and one of its keys have left, each null where nothing limits it. $1 account, $2 key. */
export const FUNDS = `
select least(case when not a.unlimited then a.available_micros end, ${ACCOUNT_HEADROOM}) as spare,
  ${KEY_SPARE} as key_spare, not a.unlimited and a.owed_micros > 0 as in_debt
from account a join api_key k on k.account_id = a.id where a.id = $1 and k.id = $2 and a.disabled_at is null`;

/**
 * Holds money for requests that answer at once, in one statement and one commit. The requests of one key are accepted
 * together or not at all, and so are those of one account; each comes back as `held`, `quota`, `balance` or `debt` (its
 * account owes for earlier requests), with what it holds and what its account has left. One that may be repeated, and
 * that another attempt has taken over from, comes back as `lost`. A hold that is more than account and key have left
 * becomes half of what they have, so that others can begin as well, but no less than its least amount.
 *
 * Every money statement locks accounts first, in the order of their ids, and touches keys and sums only behind that
 * lock: two of them can never wait for each other. `spare` is null where nothing limits it.
 *
 * A request with tags that have a limit is held alone, by a text that asks them: it is refused like one beyond the quota of its key.
 *
 * $1 the holds as JSON, $2 the process that holds, or null.
 */
const holdRequests = (hasLimitedTags: boolean): string => `
with incoming as (
  select * from jsonb_to_recordset($1::jsonb) as r(
    request_id text, account_id text, api_key_id text, amount_micros bigint, least_micros bigint,
    expires_seconds integer, idempotency_key text${hasLimitedTags ? ', limited_tags text[]' : ''})
), locked as (
  select ${ACCOUNT_BOOKS}, least(case when not a.unlimited then a.available_micros end, ${ACCOUNT_HEADROOM}) as spare,
    not a.unlimited and a.owed_micros > 0 as in_debt
  from account a where a.id in (select account_id from incoming) and a.disabled_at is null
  order by a.id for no key update
), renewed as (${RENEW_RIGHTS}
), ${hasLimitedTags ? TAG_ROOM : ''}locked_key as (
  select ${KEY_BOOKS}, k.account_id, ${keySpare(hasLimitedTags)} as spare, least(l.spare, ${keySpare(hasLimitedTags)}) as most
  from api_key k join locked l on l.id = k.account_id ${hasLimitedTags ? 'cross join tag_room t' : ''}
  where k.id in (select api_key_id from incoming) and not l.in_debt
  order by k.id for no key update of k
), rightful as (
  select i.request_id, i.account_id, i.api_key_id, i.expires_seconds,
    ${hasLimitedTags ? 'i.limited_tags' : 'null::text[]'} as limited_tags,
    case when k.most < i.amount_micros then least(i.amount_micros, greatest(i.least_micros, k.most / 2))
      else i.amount_micros end as amount_micros
  from incoming i left join locked_key k on k.id = i.api_key_id
  where idempotency_key is null or request_id in (select request_id from renewed)
), covered as (
  select k.id, k.account_id, sum(i.amount_micros)::bigint as total
  from rightful i join locked_key k on k.id = i.api_key_id
  group by k.id, k.account_id, k.spare having k.spare is null or k.spare >= sum(i.amount_micros)
), wanted as (
  select account_id, sum(total)::bigint as total from covered group by account_id
), charged as (
  update account a set unlimited = l.unlimited, available_micros = l.available_micros - w.total, held_micros = l.held_micros + w.total
  from wanted w join locked l on l.id = w.account_id where a.id = w.account_id and (l.spare is null or l.spare >= w.total)
  returning a.id
), keyed as (
  update api_key k set quota_micros = l.quota_micros, held_micros = l.held_micros + c.total, used_micros = l.used_micros
  from covered c join charged on charged.id = c.account_id join locked_key l on l.id = c.id where k.id = c.id
  returning k.id
), written as (
  insert into request_hold (request_id, account_id, api_key_id, amount_micros, expires_at, process_id, limited_tags)
  select request_id, account_id, api_key_id, amount_micros, now() + expires_seconds * interval '1 second', $2::text, limited_tags
  from rightful where api_key_id in (select id from keyed)
  returning request_id, account_id, api_key_id, amount_micros
), entered as (
  insert into ledger_entry (account_id, api_key_id, request_id, kind, debit, credit, amount_micros)
  select account_id, api_key_id, request_id, ${entrySql('hold')}, amount_micros from written
)
select request_id, case when w.request_id is not null then 'held'
  when i.idempotency_key is not null and request_id not in (select request_id from renewed)
    and i.account_id in (select id from locked) then 'lost'
  when l.in_debt then 'debt'
  when i.api_key_id in (select id from covered) then 'balance' else 'quota' end as outcome,
  i.account_id, w.amount_micros as held_micros, l.spare - case when c.id is null then 0 else t.total end as spare
from incoming i left join written w using (request_id) left join locked l on l.id = i.account_id
  left join charged c on c.id = i.account_id left join wanted t on t.account_id = i.account_id`;

/** Asked behind the lock of the account, so that two requests never see the same room. */
const TAG_ROOM = `tag_room as (
  select min(tag_room(l.id, i.limited_tags)) as room from incoming i join locked l on l.id = i.account_id
), `;
const keySpare = (hasLimitedTags: boolean): string => (hasLimitedTags ? `least(${KEY_SPARE}, t.room)` : KEY_SPARE);

export const HOLD_REQUESTS = { name: 'hold_requests', text: holdRequests(false) };
export const HOLD_LIMITED_REQUEST = { name: 'hold_limited_request', text: holdRequests(true) };

/**
 * The usage records of the requests in `settled`, and the daily sums they change, behind the lock of `paid`. What is
 * owed was used as much as what was paid.
 *
 * @param hasTags whether any of them has tags, whose sums cost others nothing.
 */
export const explainAndSum = (hasTags: boolean): string => `explained as (
  insert into usage_record (id, account_id, api_key_id, kind, model, request_id, upstream, status, amount_micros, lines,
    input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, duration_ms, owed_micros, ${COST_COLUMNS},
    session, agent, end_user, tags)
  select usage_id, account_id, api_key_id, 'text', model, request_id, upstream, status, charge_micros, lines,
    input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, duration_ms, owed_micros, ${COST_COLUMNS},
    session, agent, end_user, tags
  from settled
), summed as (
  insert into usage_daily as d (account_id, day, model, api_key_id, kind, requests, failed_requests, amount_micros,
    input_tokens, output_tokens)
  select account_id, (now() at time zone 'utc')::date, model, api_key_id, 'text', count(*),
    count(*) filter (where status <> 'completed'), sum(charge_micros)::bigint, sum(input_tokens)::bigint,
    sum(output_tokens)::bigint
  from settled where exists (select from paid)
  group by account_id, model, api_key_id
  on conflict (account_id, day, model, api_key_id) do update set requests = d.requests + excluded.requests,
    failed_requests = d.failed_requests + excluded.failed_requests,
    amount_micros = d.amount_micros + excluded.amount_micros,
    input_tokens = d.input_tokens + excluded.input_tokens, output_tokens = d.output_tokens + excluded.output_tokens
)${hasTags ? SUMMED_BY_TAG : ''}`;

const SUMMED_BY_TAG = `, summed_by_tag as (
  insert into usage_daily_by_tag as d (account_id, tag, day, requests, failed_requests, amount_micros, input_tokens,
    output_tokens)
  select account_id, counted.tag, (now() at time zone 'utc')::date, count(*), count(*) filter (where status <> 'completed'),
    sum(charge_micros)::bigint, sum(input_tokens)::bigint, sum(output_tokens)::bigint
  from settled cross join lateral counted_tags(account_id, tags) as counted(tag)
  where tags is not null and exists (select from paid)
  group by account_id, counted.tag
  on conflict (account_id, tag, day) do update set requests = d.requests + excluded.requests,
    failed_requests = d.failed_requests + excluded.failed_requests,
    amount_micros = d.amount_micros + excluded.amount_micros,
    input_tokens = d.input_tokens + excluded.input_tokens, output_tokens = d.output_tokens + excluded.output_tokens
)`;

/** How requests ended, as JSON in $1; `more` are further columns. */
export const endings = (more = ''): string => `incoming as (
  select * from jsonb_to_recordset($1::jsonb) as r(
    request_id text, charge_micros bigint, usage_id text, model text, upstream text, status text, lines jsonb,
    input_tokens bigint, cached_input_tokens bigint, output_tokens bigint, reasoning_tokens bigint, duration_ms integer,
    ${COST_FIELDS}, session text, agent text, end_user text, tags text[]${more})
)`;

/** Charges the requests in `freed`, whose accounts are locked and stand with what they have to spare in `locked`. */
const chargeFreed = (hasTags: boolean): string => `locked_key as (
  select ${KEY_BOOKS}, l.spare as account_spare, k.quota_micros - k.held_micros - k.used_micros as key_spare
  from api_key k join locked l on l.id = k.account_id where k.id in (select api_key_id from freed)
  order by k.id for no key update of k
), split as (
  select f.*, i.charge_micros, i.usage_id, i.model, i.upstream, i.status, i.lines, i.input_tokens,
    i.cached_input_tokens, i.output_tokens, i.reasoning_tokens, i.duration_ms, ${COST_COLUMNS},
    i.session, i.agent, i.end_user, i.tags, k.account_spare, k.key_spare,
    least(i.charge_micros, f.hold_micros) as captured_micros,
    greatest(i.charge_micros - f.hold_micros, 0) as beyond_micros
  from freed f join incoming i using (request_id) join locked_key k on k.id = f.api_key_id
), collected as (
  select s.*, greatest(least(beyond_micros, account_spare), 0) as spared_micros,
    greatest(least(beyond_micros, account_spare, key_spare), 0) as overrun_micros
  from split s
), settled as (
  select c.*, captured_micros + spared_micros as paid_micros, beyond_micros - spared_micros as owed_micros
  from collected c
), account_sum as (
  select account_id, sum(hold_micros)::bigint as held, sum(paid_micros)::bigint as paid,
    sum(charge_micros)::bigint as used, sum(owed_micros)::bigint as owed from settled group by account_id
), paid as (
  update account a set unlimited = l.unlimited, held_micros = l.held_micros - s.held, used_micros = l.used_micros + s.used,
    available_micros = l.available_micros + s.held - s.paid, owed_micros = l.owed_micros + s.owed
  from account_sum s join locked l on l.id = s.account_id where a.id = s.account_id returning a.id
), key_sum as (
  select api_key_id, sum(hold_micros)::bigint as held, sum(captured_micros + overrun_micros)::bigint as paid
  from settled group by api_key_id
), keyed as (
  update api_key k set quota_micros = l.quota_micros, held_micros = l.held_micros - s.held, used_micros = l.used_micros + s.paid
  from key_sum s join locked_key l on l.id = s.api_key_id where k.id = s.api_key_id and exists (select from paid)
), entered as (
  insert into ledger_entry (account_id, api_key_id, request_id, kind, debit, credit, amount_micros)
  select account_id, case when e.of_key then api_key_id end, request_id, e.kind, e.debit, e.credit, e.amount
  from settled s cross join lateral (values
    (${entrySql('capture')}, s.captured_micros, s.captured_micros > 0 or s.beyond_micros > 0 or s.status = 'completed', true),
    (${entrySql('overrun')}, s.overrun_micros, s.overrun_micros > 0, true),
    (${entrySql('debt')}, s.beyond_micros - s.overrun_micros, s.beyond_micros > s.overrun_micros, false),
    (${entrySql('debt_payment')}, s.spared_micros - s.overrun_micros, s.spared_micros > s.overrun_micros, false),
    (${entrySql('release')}, s.hold_micros - s.captured_micros, s.captured_micros < s.hold_micros or
      (s.charge_micros = 0 and s.status <> 'completed'), true)
  ) as e(kind, debit, credit, amount, needed, of_key)
  where e.needed
), ${explainAndSum(hasTags)}
select request_id, paid_micros, owed_micros from settled`;

/**
 * Ends requests: hold, charge, balances, ledger, usage record and daily sums, in one statement and one commit. The row
 * of the hold is the guard: the statement that deletes it settles, any later one finds nothing and moves nothing. Accounts are
 * locked before it, as everywhere.
 *
 * A charge within the hold is taken from it. What goes beyond is taken from what account and key have to spare; what
 * only the key's quota forbids, from the account alone; and what the account lacks is a debt. The caller puts such a
 * request alone into a batch, because two could spend the same spare money. Whatever is charged has a capture in the ledger,
 * be it of nothing.
 *
 * $1 the endings as JSON.
 */
const settleRequests = (hasTags: boolean): string => `
with ${endings()}, locked as (
  select ${ACCOUNT_BOOKS}, case when not a.unlimited then a.available_micros end as spare
  from account a where a.id in (select h.account_id from request_hold h join incoming i using (request_id))
  order by a.id for no key update
), freed as (
  delete from request_hold h using incoming i, locked l where h.request_id = i.request_id and l.id = h.account_id
  returning h.request_id, h.account_id, h.api_key_id, h.amount_micros as hold_micros
), ${chargeFreed(hasTags)}`;

/**
 * Charges a request that is over and for which nothing is held: neither debt nor limits refuse what was used already. Its
 * capture, of nothing, is the guard: none is written, and nothing moves, when it was charged before, or when another attempt of the
 * same idempotency key has taken over. The row of the key is changed and not only locked, as in `RENEW_RIGHTS`.
 *
 * $1 the ending as JSON.
 */
const chargeUnheld = (hasTags: boolean): string => `
with ${endings(', account_id text, api_key_id text, idempotency_key text')}, locked as (
  select ${ACCOUNT_BOOKS}, case when not a.unlimited then a.available_micros end as spare
  from account a where a.id in (select account_id from incoming) order by a.id for no key update
), renewed as (${RENEW_STANDING}
), freed as (
  select i.request_id, i.account_id, i.api_key_id, 0::bigint as hold_micros from incoming i join locked l on l.id = i.account_id
  where not exists (
    select from ledger_entry e where e.request_id = i.request_id and e.task_id is null and e.kind = ${kindSql('capture')}
  ) and (i.idempotency_key is null or i.request_id in (select request_id from renewed) or not exists (
    select from idempotency_record r where r.account_id = i.account_id and r.key = i.idempotency_key))
), ${chargeFreed(hasTags)}`;

/** A statement that ends requests, with and without what tags need, each under the name that it is prepared by. */
export const withAndWithoutTags = (name: string, textOf: (hasTags: boolean) => string) => {
  const [tagged, plain] = [
    { name: `${name}_with_tags`, text: textOf(true) },
    { name, text: textOf(false) },
  ];
  return (ended: readonly { readonly usage: RequestUsage }[]): { readonly name: string; readonly text: string } =>
    ended.some(({ usage }) => usage.attribution?.tags) ? tagged : plain;
};

export const settleStatement = withAndWithoutTags('settle_requests', settleRequests);
export const unheldStatement = withAndWithoutTags('charge_unheld', chargeUnheld);

/**
 * $1 request ids, $2 seconds. The requests live: their holds stay for that long again. Rows that are locked are being
 * settled; waiting for them could become a circle.
 */
export const RENEW_HOLDS = `
update request_hold set expires_at = now() + $2::integer * interval '1 second'
where request_id = any(array(select request_id from request_hold where request_id = any($1) for update skip locked))`;

/**
 * Holds whose request must be dead, but for those that could not be given back lately. $1 the most to answer, $2 processes that
 * are known to be dead.
 */
export const ABANDONED_HOLDS = `
select request_id from request_hold where (expires_at <= now() or process_id = any($2)) and not is_reservation
  and ${notPaused('abandoned-hold', 'request_hold.request_id')} order by expires_at limit $1`;
