-- Upstreams of the database may say all that those of UPSTREAMS_FILE may, within the same bounds: fractional weights, 0 to
-- take one out of service, and the sandbox, which has no address.
alter table upstream
  alter column base_url drop not null,
  drop constraint upstream_weight_positive,
  alter column weight type double precision,
  add constraint upstream_weight_in_bounds check (weight between 0 and 1000),
  add constraint upstream_priority_in_bounds check (priority between 0 and 1000),
  add constraint upstream_has_address check (base_url is not null or protocol = 'sandbox'),
  add column output_limit_field text not null default 'max_tokens',
  add constraint upstream_output_limit_known check (output_limit_field in ('max_tokens', 'max_completion_tokens'));

-- Which upstreams rest after failures, for gateways without Redis. Nothing here is worth a write to the log.
create unlogged table upstream_cooldown (
  upstream text primary key,
  rest_until timestamptz not null,
  -- How often it rested since it last worked: each rest is longer than the one before.
  rests integer not null,
  -- Until then one replica probes it, and no other does.
  probe_until timestamptz not null default '-infinity',
  prober text
) with (fillfactor = 50);
