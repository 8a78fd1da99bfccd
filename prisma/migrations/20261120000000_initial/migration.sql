-- Money is bigint micros (1 unit = 1,000,000). Ids are text, time-ordered. Times are timestamptz in UTC.

-- Accounts: who pays. `available` can be spent, `held` is reserved for open work, `used` was captured.
create table account (
  id text primary key,
  name text not null,
  available_micros bigint not null default 0,
  held_micros bigint not null default 0,
  used_micros bigint not null default 0,
  unlimited boolean not null default false,
  priority smallint not null default 0,
  max_running_tasks integer,
  requests_per_minute integer,
  tokens_per_minute integer,
  created_at timestamptz not null default now(),
  disabled_at timestamptz,
  constraint account_available_covers check (unlimited or available_micros >= 0),
  constraint account_held_positive check (held_micros >= 0),
  constraint account_used_positive check (used_micros >= 0)
) with (fillfactor = 50);

-- Keys: only the keyed hash is stored; `prefix` is what people see. NULL quota or limit means: that of the account.
create table api_key (
  id text primary key,
  account_id text not null references account (id),
  name text not null,
  prefix text not null,
  key_hash bytea not null unique,
  quota_micros bigint,
  held_micros bigint not null default 0,
  used_micros bigint not null default 0,
  allowed_models text[] not null default '{}',
  allowed_addresses text[] not null default '{}',
  requests_per_minute integer,
  tokens_per_minute integer,
  max_running_tasks integer,
  replaces_key_id text references api_key (id),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  constraint api_key_quota_positive check (quota_micros is null or quota_micros >= 0),
  constraint api_key_within_quota check (quota_micros is null or held_micros + used_micros <= quota_micros),
  constraint api_key_held_positive check (held_micros >= 0),
  constraint api_key_used_positive check (used_micros >= 0)
) with (fillfactor = 50);
create index api_key_of_account on api_key (account_id, created_at);

-- Prices: data with an effective date. One price is `amount_micros` for each `per_quantity` of `unit`.
create table price (
  id text primary key,
  model text not null,
  unit text not null,
  variant text not null default 'default',
  amount_micros bigint not null,
  per_quantity bigint not null default 1,
  effective_from timestamptz not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  constraint price_not_negative check (amount_micros >= 0),
  constraint price_per_something check (per_quantity > 0),
  constraint price_unit_known check (unit in
    ('second', 'image', 'request', 'input_token', 'cached_input_token', 'output_token', 'reasoning_token', 'image_token')),
  constraint price_starts_once unique (model, unit, variant, effective_from)
);

-- Tasks: the row is the truth and the queue; a job in BullMQ is only a doorbell for it.
create table task (
  id text primary key,
  account_id text not null references account (id),
  api_key_id text not null references api_key (id),
  medium text not null,
  path text not null,
  family text not null,
  model text not null,
  mode text not null,
  parameters jsonb not null,
  notices text[] not null default '{}',
  state text not null default 'queued',
  version integer not null default 0,
  progress smallint not null default 0,
  attempt integer not null default 0,
  failures integer not null default 0,
  last_failure text,
  lease_owner text,
  lease_until timestamptz,
  provider text,
  start_intent_at timestamptz,
  operation jsonb,
  outputs jsonb,
  error_code text,
  error_message text,
  hold_micros bigint not null,
  charged_micros bigint,
  price_id text references price (id),
  billing_unit text not null,
  billing_variant text not null,
  billing_settle text not null,
  quantity integer not null,
  priority smallint not null default 0,
  request_id text not null,
  webhook_url text,
  deadline_at timestamptz not null,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  files_expire_at timestamptz,
  constraint task_state_known check (state in
    ('queued', 'submitting', 'running', 'storing', 'completed', 'failed', 'cancelled')),
  constraint task_medium_known check (medium in ('video', 'image')),
  constraint task_leased_while_worked_on check ((state in ('queued', 'submitting', 'storing')) = (lease_until is not null)),
  constraint task_finished_when_final check ((state in ('completed', 'failed', 'cancelled')) = (finished_at is not null)),
  constraint task_charge_within_hold check (charged_micros is null or charged_micros between 0 and hold_micros),
  constraint task_hold_positive check (hold_micros >= 0),
  constraint task_quantity_positive check (quantity > 0)
) with (fillfactor = 70);
create index task_due on task (medium, lease_until) where lease_until is not null;
create index task_running on task (id) where state = 'running';
create index task_open_deadline on task (deadline_at) where finished_at is null;
create index task_open_of_account on task (account_id, state) where finished_at is null;
create index task_of_account on task (account_id, id desc);
create index task_files_expiring on task (files_expire_at) where files_expire_at is not null;

-- When to ask the vendor next. Rebuildable from `task`, so it writes no log and is empty after a crash.
create unlogged table task_poll (
  task_id text primary key,
  provider text not null,
  operation jsonb not null,
  next_poll_at timestamptz not null,
  polls integer not null default 0
) with (fillfactor = 50);
create index task_poll_due on task_poll (next_poll_at);

-- Work a vendor accepted that no task row holds, for an operator to cancel or reconcile.
create table upstream_orphan (
  task_id text not null,
  provider text not null,
  operation jsonb not null,
  created_at timestamptz not null default now(),
  resolved_at timestamptz,
  primary key (task_id, operation)
);

create table task_file (
  task_id text not null references task (id),
  ordinal smallint not null,
  role text not null,
  store_key text not null,
  content_type text not null,
  bytes bigint not null,
  sha256 text not null,
  width integer,
  height integer,
  duration_ms integer,
  expires_at timestamptz,
  removed_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (task_id, ordinal),
  constraint task_file_role_known check (role in ('output', 'last_frame'))
);
create index task_file_expiring on task_file (expires_at) where expires_at is not null and removed_at is null;

-- Ledger: append-only double entry. Each row moves an amount from one book of the account to another.
-- funding: money from outside; available: can be spent; held: reserved; revenue: earned.
create table ledger_entry (
  id bigint generated always as identity primary key,
  account_id text not null references account (id),
  api_key_id text references api_key (id),
  task_id text references task (id),
  request_id text,
  kind text not null,
  debit text not null,
  credit text not null,
  amount_micros bigint not null,
  reference text,
  note text,
  created_at timestamptz not null default now(),
  constraint ledger_amount_positive check (amount_micros >= 0),
  constraint ledger_books_fit_kind check (
    (kind = 'top_up' and debit = 'funding' and credit = 'available') or
    (kind = 'hold' and debit = 'available' and credit = 'held') or
    (kind = 'capture' and debit = 'held' and credit = 'revenue') or
    (kind = 'release' and debit = 'held' and credit = 'available') or
    (kind = 'adjustment' and debit = 'funding' and credit = 'available') or
    (kind = 'adjustment' and debit = 'available' and credit = 'funding')),
  constraint ledger_work_has_a_subject check (kind not in ('hold', 'capture', 'release') or task_id is not null or request_id is not null)
);
create unique index ledger_once_per_task on ledger_entry (task_id, kind) where task_id is not null;
create unique index ledger_once_per_request on ledger_entry (request_id, kind) where task_id is null and request_id is not null and kind in ('hold', 'capture', 'release');
create unique index ledger_once_per_reference on ledger_entry (account_id, reference) where reference is not null;
create index ledger_of_account on ledger_entry (account_id, id desc);

create function ledger_is_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'ledger entries are never changed; write an adjustment instead';
end
$$;
create trigger ledger_entry_append_only before update or delete on ledger_entry
  for each row execute function ledger_is_append_only();

-- What a repeated POST with the same Idempotency-Key gets back. Kept 24 h.
create table idempotency_record (
  account_id text not null references account (id),
  key text not null,
  fingerprint bytea not null,
  state text not null default 'in_flight',
  task_id text references task (id),
  request_id text not null,
  response_status integer,
  response_body text,
  response_content_type text,
  locked_until timestamptz not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  primary key (account_id, key),
  constraint idempotency_state_known check (state in ('in_flight', 'done'))
);
create index idempotency_expiring on idempotency_record (expires_at);

-- Upstreams added by operators at run time; those of UPSTREAMS_FILE stay in the file.
create table upstream (
  id text primary key,
  protocol text not null,
  base_url text not null,
  api_key_sealed bytea,
  models jsonb not null,
  weight integer not null default 1,
  priority integer not null default 0,
  timeouts jsonb not null default '{}',
  enabled boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint upstream_protocol_known check (protocol in ('responses', 'chat', 'messages', 'gemini', 'sandbox')),
  constraint upstream_weight_positive check (weight > 0)
);

create table webhook_endpoint (
  id text primary key,
  account_id text not null references account (id),
  url text not null,
  event_types text[] not null default '{}',
  secret_sealed bytea not null,
  previous_secret_sealed bytea,
  previous_secret_until timestamptz,
  created_at timestamptz not null default now(),
  disabled_at timestamptz
);
create index webhook_endpoint_of_account on webhook_endpoint (account_id);

create table webhook_delivery (
  id text primary key,
  account_id text not null references account (id),
  endpoint_id text references webhook_endpoint (id),
  task_id text references task (id),
  event_type text not null,
  url text not null,
  payload text not null,
  state text not null default 'pending',
  attempts integer not null default 0,
  next_attempt_at timestamptz,
  last_status integer,
  last_error text,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  constraint webhook_delivery_state_known check (state in ('pending', 'delivered', 'failed')),
  constraint webhook_delivery_scheduled_while_pending check ((state = 'pending') = (next_attempt_at is not null))
);
create index webhook_delivery_due on webhook_delivery (next_attempt_at) where next_attempt_at is not null;
create index webhook_delivery_of_account on webhook_delivery (account_id, id desc);
create unique index webhook_delivery_once_per_event on webhook_delivery (task_id, url, event_type) where task_id is not null;

create table webhook_attempt (
  delivery_id text not null references webhook_delivery (id) on delete cascade,
  attempt integer not null,
  status integer,
  error text,
  duration_ms integer not null,
  created_at timestamptz not null default now(),
  primary key (delivery_id, attempt)
);

-- Usage: one row explains the price of one request or task. Partitioned by month, so that old months drop in an instant.
create table usage_record (
  id text not null,
  created_at timestamptz not null default now(),
  account_id text not null,
  api_key_id text not null,
  kind text not null,
  model text not null,
  task_id text,
  request_id text not null,
  upstream text,
  status text not null,
  amount_micros bigint not null,
  lines jsonb not null,
  input_tokens bigint not null default 0,
  cached_input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  reasoning_tokens bigint not null default 0,
  quantity bigint not null default 0,
  duration_ms integer,
  primary key (created_at, id),
  constraint usage_kind_known check (kind in ('video', 'image', 'text'))
) partition by range (created_at);
create index usage_of_account on usage_record (account_id, created_at desc, id desc);
create table usage_record_other partition of usage_record default;

-- Sums kept as the records arrive, so that no report reads the records.
create table usage_daily (
  account_id text not null references account (id),
  day date not null,
  model text not null,
  api_key_id text not null,
  kind text not null,
  requests bigint not null default 0,
  failed_requests bigint not null default 0,
  amount_micros bigint not null default 0,
  quantity bigint not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  primary key (account_id, day, model, api_key_id)
) with (fillfactor = 70);
create index usage_daily_by_day on usage_daily (day);

-- Who changed what through the admin API. Partitioned by month.
create table audit_record (
  id text not null,
  created_at timestamptz not null default now(),
  actor text not null,
  action text not null,
  subject_type text not null,
  subject_id text not null,
  before jsonb,
  after jsonb,
  request_id text not null,
  address text,
  primary key (created_at, id)
) partition by range (created_at);
create index audit_of_subject on audit_record (subject_type, subject_id, created_at desc);
create table audit_record_other partition of audit_record default;

-- Makes the month's partition of a table if it is missing. Rows that reached the default partition stay there.
create function ensure_month_partition(parent text, month date) returns void language plpgsql as $$
declare
  first_day date := date_trunc('month', month)::date;
  partition text := parent || '_' || to_char(first_day, 'YYYY_MM');
begin
  if to_regclass(partition) is null then
    execute format('create table %I (like %I including defaults including constraints)', partition, parent);
    execute format('alter table %I attach partition %I for values from (%L) to (%L)',
      parent, partition, first_day, (first_day + interval '1 month')::date);
  end if;
end
$$;

select ensure_month_partition(parent, (now() + ahead * interval '1 month')::date)
from unnest(array['usage_record', 'audit_record']) parent, generate_series(0, 2) ahead;

-- Responses a client may continue (previous_response_id) and the items it may refer to (item_reference).
create table text_response (
  account_id text not null references account (id),
  id text not null,
  previous_response_id text,
  response jsonb not null,
  input_items jsonb not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  primary key (account_id, id)
);
create index text_response_expiring on text_response (expires_at);

create table text_item (
  account_id text not null references account (id),
  id text not null,
  response_id text not null,
  item jsonb not null,
  expires_at timestamptz not null,
  primary key (account_id, id)
);
create index text_item_expiring on text_item (expires_at);
