-- The log of prompts and answers of an account that wants one. Its entries are sealed with a key of its own, which is sealed here:
-- without that key they are gone at once, however long their removal takes. One that ended has none, and waits for its entries to go.
create table prompt_log (
  id text primary key,
  account_id text not null references account (id),
  is_on boolean not null,
  retention_days smallint not null check (retention_days between 1 and 90),
  redactions text[] not null default '{}',
  sealed_key bytea,
  kept_bytes bigint not null default 0,
  ended_at timestamptz,
  check ((sealed_key is null) = (ended_at is not null))
);
create unique index prompt_log_of_account on prompt_log (account_id) where ended_at is null;

create table prompt_entry (
  id text primary key,
  log_id text not null references prompt_log (id),
  request_id text not null,
  api_key_id text not null,
  model text not null,
  session text,
  sealed bytea not null,
  kept_bytes integer not null,
  created_at timestamptz not null
);
create index prompt_entry_of_log on prompt_entry (log_id, created_at, id);
create index prompt_entry_of_session on prompt_entry (log_id, session, created_at, id) where session is not null;
