-- How much of an upstream's allowance of a day or a month (UTC) its orders have taken. One row for each day and month: never
-- many enough to be removed.
create table upstream_allowance (
  upstream text not null,
  period text not null,
  orders bigint not null,
  spend_micros bigint not null,
  primary key (upstream, period)
);
