-- Who holds money for requests, so that a death gives it back within seconds. Holds of an older version name nobody, and expire as before.
create table holding_process (
  id text primary key,
  seen_at timestamptz not null default now()
);

alter table request_hold add column process_id text;
create index request_hold_of_process on request_hold (process_id) where process_id is not null;
