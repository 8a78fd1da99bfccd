-- Fair claims: who has queued work, and what of it is due, without looking at anybody else's.
create index task_queue on task (medium, account_id, lease_until) where state = 'queued';
-- Work whose worker went silent, and files to fetch: few rows, found without passing the queued ones.
create index task_step_due on task (medium, lease_until) where state in ('submitting', 'storing');
drop index task_due;

-- What operators look after: tasks that were given up, newest first.
create index task_parked on task (finished_at desc) where error_code = 'parked';

-- Cancelling: the wish is noted here, carried out by the worker that speaks with the vendor, and answered here.
alter table task add column cancel_requested_at timestamptz;
alter table task add column cancel_outcome text;
alter table task add constraint task_cancel_outcome_known check (cancel_outcome in ('too_late', 'unsupported'));
alter table task_poll add column cancel_requested boolean not null default false;

-- Each vendor is asked on its own, so that a slow one delays nobody else; the index without the vendor has no reader left.
create index task_poll_due_of_provider on task_poll (provider, next_poll_at);
drop index task_poll_due;

-- Vanishes with the unlogged schedule when Postgres crashes; its absence tells pollers to fill the schedule again.
create unlogged table task_poll_schedule (
  filled boolean primary key default true,
  constraint task_poll_schedule_has_one_row check (filled)
);

-- What all workers together may ask of a vendor. Forgotten after a crash, and then learned again from the vendor.
create unlogged table upstream_limit (
  provider text not null,
  call text not null,
  paused_until timestamptz not null default '-infinity',
  next_call_at timestamptz not null default '-infinity',
  primary key (provider, call),
  constraint upstream_limit_call_known check (call in ('start', 'check'))
) with (fillfactor = 50);

-- Signs webhooks to addresses named in a submission; endpoints have secrets of their own.
create table webhook_signing_secret (
  account_id text primary key references account (id),
  secret_sealed bytea not null,
  previous_secret_sealed bytea,
  previous_secret_until timestamptz,
  created_at timestamptz not null default now()
);
