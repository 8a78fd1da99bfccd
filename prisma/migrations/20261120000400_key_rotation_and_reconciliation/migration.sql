-- A rotated key keeps its row, and with it its quota and its history; the old secret works until the overlap ends.
alter table api_key add column previous_key_hash bytea unique;
alter table api_key add column previous_valid_until timestamptz;
alter table api_key add constraint api_key_previous_ends check ((previous_key_hash is null) = (previous_valid_until is null));

-- What each reconciliation found. It reports; it repairs nothing.
create table reconciliation_report (
  id text primary key,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  balanced boolean not null,
  counts jsonb not null,
  findings jsonb not null
);
create index audit_newest on audit_record (created_at desc, id desc);
