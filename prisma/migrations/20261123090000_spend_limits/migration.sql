-- What an account or a key may spend in a day and in a month of UTC; null: no limit.
alter table account add column daily_limit_micros bigint, add column monthly_limit_micros bigint,
  add constraint account_spend_limits check (daily_limit_micros >= 0 and monthly_limit_micros >= 0);
alter table api_key add column daily_limit_micros bigint, add column monthly_limit_micros bigint,
  add constraint api_key_spend_limits check (daily_limit_micros >= 0 and monthly_limit_micros >= 0);
create index account_with_spend_limit on account (id) where daily_limit_micros is not null or monthly_limit_micros is not null;
create index api_key_with_spend_limit on api_key (id) where daily_limit_micros is not null or monthly_limit_micros is not null;

-- What a limited account or key had used when the running day or month began, so that what it spent since is one subtraction.
create table spend_mark (
  subject_id text not null,
  period text not null,
  started_on date not null,
  base_micros bigint not null,
  primary key (subject_id, period),
  constraint spend_mark_period check (period in ('day', 'month'))
);

-- Since the running period began: by its mark, or by the daily sums until there is one. `key_id` null: the whole account.
create function spent_micros(of_account text, of_key text, of_period text, used_micros bigint) returns bigint
language sql stable as $$
  select coalesce(
    (select spent_micros.used_micros - m.base_micros from spend_mark m
      where m.subject_id = coalesce(of_key, of_account) and m.period = of_period
        and m.started_on = date_trunc(of_period, now() at time zone 'utc')::date),
    (select coalesce(sum(d.amount_micros), 0)::bigint from usage_daily d
      where d.account_id = of_account and d.day >= date_trunc(of_period, now() at time zone 'utc')::date
        and (of_key is null or d.api_key_id = of_key)))
$$;

-- What the limits leave, less what open work holds; null where there is none, which is told without reading anything.
create function spend_room(
  of_account text, of_key text, used_micros bigint, held_micros bigint, daily_limit bigint, monthly_limit bigint
) returns bigint language sql stable as $$
  select case when daily_limit is null and monthly_limit is null then null else least(
    case when daily_limit is not null then
      daily_limit - held_micros - spent_micros(of_account, of_key, 'day', used_micros) end,
    case when monthly_limit is not null then
      monthly_limit - held_micros - spent_micros(of_account, of_key, 'month', used_micros) end) end
$$;

-- Below what balance an account wants to be told, and when it was; null: it was not, or the balance has recovered.
alter table account add column low_balance_micros bigint, add column low_balance_noticed_at timestamptz,
  add constraint account_low_balance check (low_balance_micros > 0);
create index account_with_low_balance on account (id) where low_balance_micros is not null;
