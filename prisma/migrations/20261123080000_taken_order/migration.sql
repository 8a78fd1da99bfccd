-- Whose the work is that a vendor has under a name: a vendor that gives two orders one name has the files of one of them at most.
-- In a table of its own, because each move of a task would write its index anew.
create table taken_order (
  -- SHA-256 of the vendor account and the vendor's name of the work.
  name_hash bytea primary key,
  task_id text not null,
  created_at timestamptz not null default now()
);
create index taken_order_by_age on taken_order (created_at);
