-- Found by whom and what they were for. An index of a table in partitions cannot be made while rows are written to it: where there
-- are many rows the maintenance worker makes those of the months that are there, one by one, and new months have theirs at once.
do $$
declare
  scope text := case when (
      select coalesce(sum(pg_relation_size(inhrelid)), 0) from pg_inherits where inhparent = 'usage_record'::regclass
    ) > 64 * 1024 * 1024 then 'on only' else 'on' end;
begin
  execute format('create index usage_of_session %s usage_record (session, account_id, created_at desc, id desc) where session is not null', scope);
  execute format('create index usage_of_end_user %s usage_record (end_user, account_id, created_at desc, id desc) where end_user is not null', scope);
  execute format('create index usage_of_tag %s usage_record using gin (tags) where tags is not null', scope);
  execute format('create index usage_with_session %s usage_record (account_id, created_at desc, id desc) where session is not null', scope);
end $$;
