-- Long answers that are kept for repeats of their requests, counted by account whatever statement writes or removes them.
alter table file_usage add column repeat_bytes bigint not null default 0;

create function count_repeat_bytes() returns trigger language plpgsql as $$
declare
  change bigint := case when octet_length(old.response_body) >= 16384 then - octet_length(old.response_body) else 0 end;
begin
  if tg_op = 'UPDATE' and octet_length(new.response_body) >= 16384 then
    change := change + octet_length(new.response_body);
  end if;
  insert into file_usage as u (account_id, repeat_bytes) values (old.account_id, greatest(change, 0))
  on conflict (account_id) do update set repeat_bytes = greatest(u.repeat_bytes + change, 0);
  return null;
end $$;
create trigger idempotency_record_answered after update of response_body on idempotency_record for each row
  when (greatest(octet_length(old.response_body), octet_length(new.response_body)) >= 16384)
  execute function count_repeat_bytes();
create trigger idempotency_record_forgotten after delete on idempotency_record for each row
  when (octet_length(old.response_body) >= 16384) execute function count_repeat_bytes();
