-- A delivery is ready when it may be sent now; otherwise it waits for next_attempt_at. What waits and what is ready have an
-- index each, so that taking the next ones costs the same however many wait. Rows of before wait until they are looked at.
alter table webhook_delivery add column ready boolean not null default false;
alter table webhook_delivery alter column ready set default true;

create index webhook_delivery_waiting on webhook_delivery (next_attempt_at)
  where not ready and next_attempt_at is not null;
create index webhook_delivery_ready on webhook_delivery (account_id, split_part(url, '/', 3), next_attempt_at)
  where ready and next_attempt_at is not null;

-- Receivers of an account (host and port) that did not answer the last times. Until rests_until none of their deliveries is
-- tried, and after it one at a time. The row goes when the receiver answers.
create table webhook_receiver (
  account_id text not null references account (id),
  receiver text not null,
  failures integer not null check (failures > 0),
  rests_until timestamptz not null,
  primary key (account_id, receiver)
);
create index webhook_receiver_by_rest on webhook_receiver (rests_until);
