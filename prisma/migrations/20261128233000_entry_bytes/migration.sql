-- What is noted of files in vector stores (attributes) takes up the database too: it counts with what is made of them. As with
-- stored responses, what finds the row of the account changed by another waits, and the next change counts it.
alter table text_bytes_change add column index_bytes bigint not null default 0;

create or replace function fold_text_bytes(account text) returns void language sql as $$
  with folded as (
    delete from text_bytes_change where account_id = account returning bytes, index_bytes
  ), sums as (
    select coalesce(sum(bytes), 0) as text, coalesce(sum(index_bytes), 0) as index from folded
  )
  update file_usage u set metered_at = now(),
    text_bytes = greatest(u.text_bytes + sums.text, 0), index_bytes = greatest(u.index_bytes + sums.index, 0),
    byte_seconds = u.byte_seconds + (u.bytes + u.index_bytes + u.text_bytes) * extract(epoch from now() - u.metered_at)
  from sums where u.account_id = account;
$$;

create function entry_bytes(attributes jsonb) returns integer language sql immutable as $$
  select case when attributes = '{}' then 0 else octet_length(attributes::text) end;
$$;

create function count_entry_bytes() returns trigger language plpgsql as $$
declare
  query text := case tg_op
    when 'INSERT' then 'select file_id, entry_bytes(attributes) as bytes from added'
    when 'DELETE' then 'select file_id, - entry_bytes(attributes) as bytes from gone'
    else 'select n.file_id, entry_bytes(n.attributes) - entry_bytes(o.attributes) as bytes
      from added n join gone o using (vector_store_id, file_id) where n.attributes <> o.attributes' end;
  change record;
begin
  for change in execute format(
    'select f.account_id, sum(e.bytes) as bytes from (%s) as e join uploaded_file f on f.id = e.file_id
    where e.bytes <> 0 group by f.account_id order by f.account_id', query)
  loop
    insert into text_bytes_change (account_id, bytes, index_bytes) values (change.account_id, 0, change.bytes);
    perform from file_usage where account_id = change.account_id for no key update skip locked;
    if found then
      perform fold_text_bytes(change.account_id);
    end if;
  end loop;
  return null;
end $$;
create trigger vector_store_file_added after insert on vector_store_file referencing new table as added
  for each statement execute function count_entry_bytes();
create trigger vector_store_file_changed after update on vector_store_file referencing old table as gone new table as added
  for each statement execute function count_entry_bytes();
create trigger vector_store_file_removed after delete on vector_store_file referencing old table as gone
  for each statement execute function count_entry_bytes();

insert into text_bytes_change (account_id, bytes, index_bytes)
select f.account_id, 0, sum(entry_bytes(e.attributes)) from vector_store_file e join uploaded_file f on f.id = e.file_id
where e.attributes <> '{}' group by f.account_id;
