-- What is made of files takes up the database: bytes of passages and terms, and of vectors, counted by account whatever
-- statement changes them. Those of before are estimated by their texts.
alter table file_index add column index_bytes bigint not null default 0, add column vector_bytes bigint not null default 0;
alter table file_usage add column index_bytes bigint not null default 0;

update file_index set index_bytes = 3 * stored_bytes where stored_bytes > 0;
update file_usage u set index_bytes = sums.bytes
from (select account_id, sum(index_bytes) as bytes from file_index group by account_id) as sums
where u.account_id = sums.account_id;

create function count_index_bytes() returns trigger language plpgsql as $$
declare
  owner text := case when tg_op = 'DELETE' then old.account_id else new.account_id end;
  change bigint := case when tg_op = 'DELETE' then 0 else new.index_bytes + new.vector_bytes end
    - case when tg_op = 'INSERT' then 0 else old.index_bytes + old.vector_bytes end;
begin
  if change <> 0 then
    insert into file_usage as u (account_id, index_bytes) values (owner, greatest(change, 0))
    on conflict (account_id) do update set metered_at = now(), index_bytes = greatest(u.index_bytes + change, 0),
      byte_seconds = u.byte_seconds + (u.bytes + u.index_bytes) * extract(epoch from now() - u.metered_at);
  end if;
  return null;
end $$;
create trigger file_index_counted after insert or delete or update of index_bytes, vector_bytes on file_index
  for each row execute function count_index_bytes();
