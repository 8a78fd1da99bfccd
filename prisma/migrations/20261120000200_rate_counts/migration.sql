-- Counts of the running minute, for gateways without Redis. Nothing here is worth a write to the log.
create unlogged table rate_count (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
) with (fillfactor = 50);
create index rate_count_expiring on rate_count (expire);
