-- Operators search all tasks. An ended task is written to these once, when it ends; open tasks are few, and found by the
-- indexes of what is open.
create index task_ended_of_request on task (request_id) where finished_at is not null;
create index task_ended_of_key on task (api_key_id, id desc) where finished_at is not null;
create index task_ended_of_model on task (model, id desc) where finished_at is not null;
create index task_ended_in_state on task (state, id desc) where finished_at is not null;
create index task_ended_operation on task using gin (operation) where finished_at is not null and operation is not null;
create index webhook_delivery_of_endpoint on webhook_delivery (endpoint_id, id desc) where endpoint_id is not null;
create index webhook_delivery_failed on webhook_delivery (id desc) where state = 'failed';
create index task_event_created on task_event (created_at);

-- Money that is given back for a task after it was charged: what was earned becomes the account's again. The kinds that
-- are allowed already stay so, whichever those are.
do $$
declare
  definition text := (select pg_get_constraintdef(oid) from pg_constraint
    where conname = 'ledger_books_fit_kind' and conrelid = 'ledger_entry'::regclass);
begin
  alter table ledger_entry drop constraint ledger_books_fit_kind;
  -- What is there already obeyed the narrower rule, so it need not be read again.
  execute format('alter table ledger_entry add constraint ledger_books_fit_kind check ((%s) or '
    '(kind = ''refund'' and debit = ''revenue'' and credit = ''available'')) not valid',
    regexp_replace(definition, '^CHECK (.*?)( NOT VALID)?$', '\1'));
end $$;

-- Which task a refund was for. The ledger's own index allows a task one entry of each kind, and a task may be refunded in parts.
create table task_refund (
  entry_id bigint primary key references ledger_entry (id),
  task_id text not null references task (id),
  amount_micros bigint not null,
  actor text not null,
  reason text not null,
  created_at timestamptz not null default now(),
  constraint task_refund_positive check (amount_micros > 0)
);
create index task_refund_of_task on task_refund (task_id);

-- A failed task that an operator sent again, as a task of its own.
create table task_redrive (
  task_id text primary key references task (id),
  new_task_id text not null unique references task (id),
  actor text not null,
  reason text,
  created_at timestamptz not null default now()
);
