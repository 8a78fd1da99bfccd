-- Sums of all accounts, written once for each day that is over, so that no request waits for another's lock on them.
-- Days that are not in usage_closed_day yet are summed from usage_daily when they are asked for.
create table usage_closed_day (
  day date primary key,
  closed_at timestamptz not null default now()
);

create table usage_daily_by_model (
  day date not null,
  model text not null,
  requests bigint not null,
  failed_requests bigint not null,
  amount_micros bigint not null,
  quantity bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  primary key (day, model)
);

create table usage_daily_by_account (
  day date not null,
  account_id text not null,
  requests bigint not null,
  failed_requests bigint not null,
  amount_micros bigint not null,
  quantity bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  primary key (day, account_id)
);

create table usage_daily_by_key (
  day date not null,
  account_id text not null,
  api_key_id text not null,
  requests bigint not null,
  failed_requests bigint not null,
  amount_micros bigint not null,
  quantity bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  primary key (day, api_key_id)
);
