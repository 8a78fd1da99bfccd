-- Items of stored responses lie in their response, and these rows say where. Processes of the version before find no such
-- items by their ids, and read the responses themselves as before. Rows of text_item are read until they expire.
create table text_item_place (
  account_id text not null references account (id),
  id text not null,
  response_id text not null,
  place integer not null check (place >= 0),
  size_bytes integer not null,
  expires_at timestamptz not null,
  primary key (account_id, id)
);
create index text_item_place_of_response on text_item_place (account_id, response_id);
create index text_item_place_expiring on text_item_place (expires_at);

-- What a response and the rows of its items take up, and the key that pays for it. Null: stored twice by a version before; such
-- responses count for nothing, and are gone within 30 days.
alter table text_response add column kept_bytes bigint, add column api_key_id text;

-- Counted by account with what its files take up. Answers of one account that end together do not wait for each other: what
-- finds the row of the account changed by another waits here, and the next change counts it.
alter table file_usage add column text_bytes bigint not null default 0;
create table text_bytes_change (
  id bigint generated always as identity primary key,
  account_id text not null references account (id),
  bytes bigint not null
);
create index text_bytes_change_of_account on text_bytes_change (account_id);

create function fold_text_bytes(account text) returns void language sql as $$
  with folded as (
    delete from text_bytes_change where account_id = account returning bytes
  )
  update file_usage u set metered_at = now(),
    text_bytes = greatest(u.text_bytes + (select coalesce(sum(bytes), 0) from folded), 0),
    byte_seconds = u.byte_seconds + (u.bytes + u.index_bytes + u.text_bytes) * extract(epoch from now() - u.metered_at)
  where u.account_id = account;
$$;

create function count_text_bytes() returns trigger language plpgsql as $$
declare
  change record;
begin
  for change in
    select account_id, sum(kept_bytes) as bytes, max(api_key_id) as api_key_id
    from changed where kept_bytes is not null group by account_id order by account_id
  loop
    insert into text_bytes_change (account_id, bytes)
    values (change.account_id, case tg_op when 'DELETE' then - change.bytes else change.bytes end);
    insert into file_usage (account_id, api_key_id) values (change.account_id, change.api_key_id)
    on conflict (account_id) do nothing;
    perform from file_usage where account_id = change.account_id for no key update skip locked;
    if found then
      perform fold_text_bytes(change.account_id);
      if tg_op = 'INSERT' then
        update file_usage set api_key_id = change.api_key_id
        where account_id = change.account_id and api_key_id is distinct from change.api_key_id;
      end if;
    end if;
  end loop;
  return null;
end $$;
create trigger text_response_added after insert on text_response referencing new table as changed
  for each statement execute function count_text_bytes();
create trigger text_response_removed after delete on text_response referencing old table as changed
  for each statement execute function count_text_bytes();

create or replace function count_index_bytes() returns trigger language plpgsql as $$
declare
  owner text := case when tg_op = 'DELETE' then old.account_id else new.account_id end;
  change bigint := case when tg_op = 'DELETE' then 0 else new.index_bytes + new.vector_bytes end
    - case when tg_op = 'INSERT' then 0 else old.index_bytes + old.vector_bytes end;
begin
  if change <> 0 then
    insert into file_usage as u (account_id, index_bytes) values (owner, greatest(change, 0))
    on conflict (account_id) do update set metered_at = now(), index_bytes = greatest(u.index_bytes + change, 0),
      byte_seconds = u.byte_seconds + (u.bytes + u.index_bytes + u.text_bytes) * extract(epoch from now() - u.metered_at);
  end if;
  return null;
end $$;
