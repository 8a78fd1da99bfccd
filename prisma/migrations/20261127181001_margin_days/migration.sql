-- What was earned and what it cost by day, for days that are over: usage records are not kept for ever, and reading a year of them takes long.
-- One row for each currency of vendors, so that amounts of different ones are never added up.
create table margin_daily (
  day date not null,
  upstream text,
  model text not null,
  account_id text not null,
  kind text not null,
  cost_unit text,
  tasks bigint not null,
  completed_tasks bigint not null,
  tasks_without_cost bigint not null,
  earned_micros bigint not null,
  cost_micros bigint,
  cost_worth_micros bigint
);
create index margin_daily_by_day on margin_daily (day);

-- Days that a version before this one closed have no rows above: their margins are read from the records.
alter table usage_closed_day add column has_margins boolean not null default false;
