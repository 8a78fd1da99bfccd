-- Upstreams of media stand beside those of text. What only one kind has is in `settings`. A deleted upstream that still
-- makes something stays until that has come to its end.
alter table upstream
  drop constraint upstream_protocol_known,
  drop constraint upstream_has_address,
  add column kind text not null default 'text',
  add column settings jsonb not null default '{}',
  add column deleted_at timestamptz,
  add constraint upstream_kind_known check (kind in ('text', 'media'));

-- What the vendor needs to find an order again, how often a call of the task was lost, and what the vendor takes for it.
alter table task
  add column ticket jsonb,
  add column lost_calls smallint not null default 0,
  add column cost_micros bigint,
  add column cost_unit text;

alter table usage_record
  add column cost_micros bigint,
  add column cost_unit text;

-- Every call that handed an order to an upstream, for operators and the vendor's support. The vendor's own words stay here.
create table task_call (
  id bigint generated always as identity primary key,
  task_id text not null,
  attempt integer not null,
  upstream text not null,
  vendor_account text not null,
  started_at timestamptz not null,
  ended_at timestamptz not null default now(),
  outcome text not null,
  vendor_status integer,
  vendor_code text,
  vendor_message text,
  vendor_request_id text,
  cost_micros bigint,
  cost_unit text
);
create index task_call_of_task on task_call (task_id, id);
create index task_call_of_request on task_call (vendor_request_id) where vendor_request_id is not null;
create index task_call_ended on task_call (ended_at);

-- A pause may be for one model of a vendor's account.
alter table upstream_limit drop constraint upstream_limit_call_known;

-- How many orders run at an upstream whose account has a limit.
create index task_at_upstream on task (provider) where state in ('submitting', 'running') and provider is not null;
