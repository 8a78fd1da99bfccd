-- Makes the month's partition of a table if it is missing. A month is one of UTC, whatever the session thinks. Rows that
-- reached the default partition before move into it: Postgres attaches no partition whose rows the default one holds.
-- Only one process at a time gets here, so two never make the same partition.
create or replace function ensure_month_partition(parent text, month date) returns void
language plpgsql set timezone = 'UTC' as $$
declare
  first_day date := date_trunc('month', month)::date;
  next_month date := (first_day + interval '1 month')::date;
  partition text := parent || '_' || to_char(first_day, 'YYYY_MM');
  default_partition text := parent || '_other';
begin
  perform pg_advisory_xact_lock(hashtext('ensure_month_partition'));
  if to_regclass(partition) is not null then
    return;
  end if;
  execute format('create table %I (like %I including defaults including constraints)', partition, parent);
  -- Attaching needs this lock anyway; taken first, it lets no row arrive between the move and the attachment.
  execute format('lock table %I in access exclusive mode', default_partition);
  execute format('with moved as (delete from %I where created_at >= %L and created_at < %L returning *)
    insert into %I select * from moved', default_partition, first_day, next_month, partition);
  execute format('alter table %I attach partition %I for values from (%L) to (%L)',
    parent, partition, first_day, next_month);
end
$$;
