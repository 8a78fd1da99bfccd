// What the store of responses asks of the database.

/** A response and those that it continues. $1 account, $2 response, $3 how many are followed back. */
export const CHAIN = `
with recursive chain as (
  select id, previous_response_id, size_bytes, upstream, vendor_account, 1 as depth
  from text_response where account_id = $1 and id = $2 and expires_at > now()
  union all
  select earlier.id, earlier.previous_response_id, earlier.size_bytes, earlier.upstream, earlier.vendor_account, chain.depth + 1
  from chain join text_response earlier on earlier.account_id = $1 and earlier.id = chain.previous_response_id
    and earlier.expires_at > now()
  where chain.depth < $3
)`;

/** Adds up sizes first: what is too large is not read, and what is long not in one piece. */
export const FIND_CHAIN = `${CHAIN}, total as (select sum(size_bytes) as size_bytes from chain)
select chain.id, chain.previous_response_id, chain.upstream, chain.vendor_account, total.size_bytes > $4 as too_large, least(total.size_bytes, 2147483647)::integer as bytes, stored.response, stored.input_items
from chain cross join total
left join text_response stored on total.size_bytes <= $5 and stored.account_id = $1 and stored.id = chain.id
order by chain.depth desc`;

/** $1 account, $2 ids, oldest first. Of each two lists: its input and its output. */
export const LONG_CHAIN = `
select 2 * asked.nth + part.nth, case when jsonb_typeof(part.items) = 'array' then part.items else '[]' end from unnest($2::text[]) with ordinality as asked (id, nth)
join text_response stored on stored.account_id = $1 and stored.id = asked.id
cross join lateral (values (0, input_items), (1, response -> 'output')) as part (nth, items)`;

/** Output and input of a response, in the order in which `place` counts them. */
const ALL_ITEMS = `case when jsonb_typeof(response -> 'output') = 'array' then response -> 'output' else '[]' end || input_items`;

/**
 * An item that is referred to several times counts as often. Those of a response that is being removed are hidden with it.
 * Items lie in their response; those that an older version stored have a row of their own. What is opened to find them is
 * bounded too: $5 bytes of responses. Each is looked up by its place, as a join of thousands with the contents of a response
 * takes their product in steps where the planner expects few.
 */
export const FIND_ITEMS = `
with asked as (
  select id, count(*) as times from unnest($2::text[]) as asked (id) group by id
), kept as (
  select id, response_id, null::integer as place, size_bytes, expires_at from text_item
  where account_id = $1 and id in (select id from asked)
  union all
  select id, response_id, place, size_bytes, expires_at from text_item_place
  where account_id = $1 and id in (select id from asked)
), found as materialized (
  select distinct on (asked.id) asked.id, response_id, place, kept.size_bytes, whole.size_bytes as whole_bytes, times
  from asked join kept on kept.id = asked.id join text_response whole on whole.account_id = $1 and whole.id = kept.response_id
  where kept.expires_at > now() and whole.expires_at > now() order by asked.id, place nulls first
), total as (
  select sum(size_bytes * times) as size_bytes, (
    select coalesce(sum(whole_bytes), 0) from (
      select distinct response_id, whole_bytes from found where place is not null) as opened) as opened_bytes
  from found
), opened as materialized (
  select jsonb_object_agg(stored.id, ${ALL_ITEMS}) as items from text_response stored
  where account_id = $1 and id in (select response_id from found where place is not null)
    and (select size_bytes <= $4 and opened_bytes <= $4 from total)
)
select found.id, response_id, place, total.size_bytes > $3 as too_large, total.opened_bytes > $5 as too_wide,
  least(total.size_bytes, 2147483647)::integer as bytes, case
    when total.size_bytes > $4 or total.opened_bytes > $4 then null
    when place is null then (select item from text_item stored where stored.account_id = $1 and stored.id = found.id)
    else opened.items #> array[response_id, place::text] end as item
from found cross join total cross join opened`;

/**
 * The same where they are long: each response is gone through once, and what was asked of it is looked up by place.
 * $1 account; of each item $2 its id, $3 its response, $4 its place in it, null where it has a row of its own.
 */
export const LONG_ITEMS = `
with asked as (
  select * from unnest($2::text[], $3::text[], $4::integer[]) with ordinality as asked (id, response_id, place, nth)
), named as materialized (
  select response_id, jsonb_object_agg(place, nth) as numbers from asked where place is not null group by response_id
)
select asked.nth, stored.item from asked join text_item stored on stored.account_id = $1 and stored.id = asked.id
where asked.place is null
union all
select (numbers -> (element.nth - 1)::text)::bigint, element.item
from named join text_response stored on stored.account_id = $1 and stored.id = named.response_id
cross join lateral jsonb_array_elements(${ALL_ITEMS}) with ordinality as element (item, nth)
where numbers ? (element.nth - 1)::text`;

export const FIND_RESPONSE = `
select size_bytes as bytes, case when size_bytes <= $3 then response end as response
from text_response where account_id = $1 and id = $2 and expires_at > now()`;

/** $1 account, $2 id. */
export const LONG_RESPONSE = `select 1, response from text_response where account_id = $1 and id = $2`;

/** Hides a response, and its items with it; answers the ids of those that have rows with their contents. */
export const HIDE = `
with hidden as (
  update text_response set expires_at = now() where account_id = $1 and id = $2 and expires_at > now()
  returning response, input_items, kept_bytes
)
select case when kept_bytes is null then array(
  select item ->> 'id' from jsonb_array_elements(${ALL_ITEMS}) as item where item ->> 'id' is not null
) else '{}' end as items from hidden`;

/** $1 account, $2 response, $3 ids. */
export const REMOVE_ITEMS = 'delete from text_item where account_id = $1 and response_id = $2 and id = any($3::text[])';
/** $1 account, $2 response, $3 the most. */
export const REMOVE_PLACES = `
delete from text_item_place where ctid = any(array(
  select ctid from text_item_place where account_id = $1 and response_id = $2 limit $3)) returning 1`;
export const REMOVE_RESPONSE = 'delete from text_response where account_id = $1 and id = $2';

/** What a row takes besides its texts, its places in indexes included, in bytes. */
export const ROW_BYTES = 128;

/**
 * Responses and their items in one statement; repeating it changes nothing. The items lie in their response, and their rows say
 * where. In the order of the keys, so that no two statements wait for each other in a circle. Answers how many bytes each account
 * that it added to has stored now.
 *
 * $1 the responses as JSON, $2 the days they are kept, $3 the longest wait for what another statement is writing, as a setting.
 */
export const SAVE = `
with given as materialized (
  select distinct on (account_id, id) *, ${ALL_ITEMS} as contents
  from rows from (json_to_recordset($1::text::json) as (
    account_id text, id text, previous_response_id text, api_key_id text, size_bytes integer, kept_bytes bigint, items json,
    upstream text, vendor_account text,
    response jsonb, input_items jsonb)) with ordinality as sent
  where (select set_config('lock_timeout', $3, true)) is not null
  order by account_id, id, ordinality
), saved as (
  insert into text_response (account_id, id, previous_response_id, response, input_items, size_bytes, kept_bytes, api_key_id,
    upstream, vendor_account, expires_at)
  select account_id, id, previous_response_id, response, input_items, size_bytes, kept_bytes, api_key_id, upstream, vendor_account,
    now() + make_interval(days => $2)
  from given order by account_id, id
  on conflict (account_id, id) do nothing returning account_id, id, kept_bytes
), placed as (
  insert into text_item_place (account_id, id, response_id, place, size_bytes, expires_at)
  select account_id, kept.id, given.id, kept.place, octet_length((contents -> kept.place)::text), now() + make_interval(days => $2)
  from saved join given using (account_id, id) cross join json_to_recordset(items) as kept (id text, place integer)
  order by account_id, kept.id, given.id, kept.place
  on conflict (account_id, id) do nothing
)
select account_id, (coalesce((
  select text_bytes from file_usage counted where counted.account_id = saved.account_id), 0) + sum(kept_bytes))::float8 as bytes
from saved group by account_id`;

/** The most rows and bytes that one statement removes, but for its last response: it must end well within its time. */
export const REMOVED_AT_ONCE = 2_000;
const BYTES_AT_ONCE = 64 * 1024 * 1024;

/** $1 account, $2 the response that stays, $3 how many bytes have to go: the oldest ones, each with its items. */
export const FORGET_OLDEST = `
with oldest as (
  select id, expires_at, kept_bytes, kept_bytes - size_bytes as row_bytes from text_response
  where account_id = $1 and id <> $2 and kept_bytes is not null
  order by expires_at, id limit ${REMOVED_AT_ONCE} for update skip locked
), measured as (
  select id, coalesce(sum(kept_bytes) over earlier, 0) as bytes, coalesce(sum(row_bytes) over earlier, 0) as row_bytes
  from oldest window earlier as (order by expires_at, id rows between unbounded preceding and 1 preceding)
), gone as (
  delete from text_response where account_id = $1 and id = any(array(
    select id from measured where bytes < least($3::float8, ${BYTES_AT_ONCE}) and row_bytes < ${REMOVED_AT_ONCE * ROW_BYTES}))
  returning id, kept_bytes
), items as (
  delete from text_item_place where account_id = $1 and response_id = any(array(select id from gone))
)
select coalesce(sum(kept_bytes), 0)::float8 as freed from gone`;
