-- What a vendor's cost is worth in the unit of balances, by the rate of that moment; null where nobody set one. A cost that the
-- vendor told stands whatever became of the order; a configured one (`configured_worth_micros`) is of what was delivered.
alter table task
  add column configured_worth_micros bigint,
  add column cost_worth_micros bigint,
  add column cost_is_reported boolean not null default false;

alter table usage_record add column cost_worth_micros bigint;
