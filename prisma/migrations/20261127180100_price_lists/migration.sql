-- Prices by customer: a list is a set of dated rules beside the price book, and an account has one list or none at a time. Processes of
-- the version before know none of it and charge what the book says: assign lists when every process is new.
create table price_list (
  id text primary key,
  name text not null,
  created_at timestamptz not null default now(),
  created_by text not null
);

-- A rule is a factor of the book, or an amount of its own; never changed, replaced by a later one of the same scope.
create table price_list_rule (
  id text primary key,
  list_id text not null references price_list (id),
  model text not null,
  unit text,
  variant text,
  from_input_tokens bigint,
  -- What of the model it is about, in one word: an index compares no nulls.
  scope text not null generated always as (coalesce(unit, '') || '/' || coalesce(variant, '') || '/'
    || coalesce(from_input_tokens::text, '')) stored,
  factor_millionths bigint,
  amount_micros bigint,
  per_quantity bigint,
  effective_from timestamptz not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  constraint price_list_rule_one_way check ((factor_millionths is null) <> (amount_micros is null)),
  constraint price_list_rule_amount check (amount_micros is null or (unit is not null and model <> '*'
    and per_quantity is not null and per_quantity > 0 and amount_micros >= 0)),
  constraint price_list_rule_factor check (factor_millionths is null or factor_millionths >= 0),
  constraint price_list_rule_starts_once unique (list_id, model, scope, effective_from)
);
create table account_price_list (
  account_id text not null references account (id),
  effective_from timestamptz not null,
  list_id text references price_list (id),
  created_at timestamptz not null default now(),
  created_by text not null,
  primary key (account_id, effective_from)
);

-- The rule that made the price of a task.
alter table task add column price_rule_id text;
