// What the store of responses asks of the database.

/** A response and those that it continues. $1 account, $2 response, $3 how many are followed back. */
export const CHAIN = `
with recursive chain as (
  select id, previous_response_id, size_bytes, 1 as depth
  from text_response where account_id = $1 and id = $2 and expires_at > now()
  union all
  select earlier.id, earlier.previous_response_id, earlier.size_bytes, chain.depth + 1
  from chain join text_response earlier on earlier.account_id = $1 and earlier.id = chain.previous_response_id
    and earlier.expires_at > now()
  where chain.depth < $3
)`;

/** Adds up sizes first: what is too large is not read, and what is long not in one piece. */
export const FIND_CHAIN = `${CHAIN}, total as (select sum(size_bytes) as size_bytes from chain)
select chain.id, chain.previous_response_id, total.size_bytes > $4 as too_large, least(total.size_bytes, 2147483647)::integer as bytes, stored.response, stored.input_items
from chain cross join total
left join text_response stored on total.size_bytes <= $5 and stored.account_id = $1 and stored.id = chain.id
order by chain.depth desc`;

/** $1 account, $2 ids, oldest first. Of each its input and its output. */
export const LONG_CHAIN = `
select 2 * asked.nth + part.nth, part.items from unnest($2::text[]) with ordinality as asked (id, nth)
join text_response stored on stored.account_id = $1 and stored.id = asked.id
cross join lateral (values (0, input_items), (1, response -> 'output')) as part (nth, items)
where jsonb_typeof(part.items) = 'array'`;

/** An item that is referred to several times counts as often. Those of a response that is being removed are hidden with it. */
export const FIND_ITEMS = `
with asked as (
  select id, count(*) as times from unnest($2::text[]) as asked (id) group by id
), found as (
  select id, item.size_bytes * times as size_bytes from asked join text_item item using (id)
  where item.account_id = $1 and item.expires_at > now() and exists (
    select from text_response whole where whole.account_id = $1 and whole.id = item.response_id and whole.expires_at > now())
), total as (select sum(size_bytes) as size_bytes from found)
select found.id, total.size_bytes > $3 as too_large, least(total.size_bytes, 2147483647)::integer as bytes, stored.item
from found cross join total
left join text_item stored on total.size_bytes <= $4 and stored.account_id = $1 and stored.id = found.id`;

/** $1 account, $2 ids. */
export const LONG_ITEMS = `
select asked.nth, stored.item from unnest($2::text[]) with ordinality as asked (id, nth)
join text_item stored on stored.account_id = $1 and stored.id = asked.id`;

export const FIND_RESPONSE = `
select size_bytes as bytes, case when size_bytes <= $3 then response end as response
from text_response where account_id = $1 and id = $2 and expires_at > now()`;

/** $1 account, $2 id. */
export const LONG_RESPONSE = `select 1, response from text_response where account_id = $1 and id = $2`;

/** Hides a response, and its items with it; answers their ids, which it names. */
export const HIDE = `
with hidden as (
  update text_response set expires_at = now() where account_id = $1 and id = $2 and expires_at > now()
  returning response, input_items
)
select array(
  select item ->> 'id' from jsonb_array_elements(
    case when jsonb_typeof(response -> 'output') = 'array' then response -> 'output' else '[]' end || input_items) as item
  where item ->> 'id' is not null
) as items from hidden`;

/** $1 account, $2 response, $3 ids. */
export const REMOVE_ITEMS = 'delete from text_item where account_id = $1 and response_id = $2 and id = any($3::text[])';

export const REMOVE_RESPONSE = 'delete from text_response where account_id = $1 and id = $2';

/** Response and items in one statement; repeating it changes nothing. */
export const SAVE = `
with given as materialized (
  select $4::text::jsonb as response, $5::text::jsonb as input_items
), saved as (
  insert into text_response (account_id, id, previous_response_id, response, input_items, size_bytes, expires_at)
  select $1, $2, $3, response, input_items, octet_length($4::text) + octet_length($5::text), now() + make_interval(days => $8)
  from given
  on conflict (account_id, id) do nothing
), stored as materialized (
  select case when jsonb_typeof(response -> 'output') = 'array' then response -> 'output' else '[]' end
    || input_items as items
  from given
)
insert into text_item (account_id, id, response_id, item, size_bytes, expires_at)
select $1, kept.id, $2, stored.items -> kept.place, octet_length((stored.items -> kept.place)::text),
  now() + make_interval(days => $8)
from stored cross join unnest($6::text[], $7::integer[]) as kept (id, place)
on conflict (account_id, id) do nothing`;
