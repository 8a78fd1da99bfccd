-- Sums of the ledger up to an entry that no later one can come before, proved by the reconciliation that wrote them. The
-- next one adds only what came since; a full one reads every entry again and writes them anew.
create table ledger_checkpoint (
  single boolean primary key default true,
  entry_id bigint not null,
  constraint ledger_checkpoint_has_one_row check (single)
);
create table ledger_sum (
  account_id text not null references account (id),
  api_key_id text not null,
  available_micros bigint not null,
  held_micros bigint not null,
  used_micros bigint not null,
  primary key (account_id, api_key_id)
);

-- What was open, at the same entry, of holds and allowances of requests; those that were settled have no row.
create table ledger_open_hold (
  hold_id text primary key,
  open_micros bigint not null
);

-- Whether every entry was read, and the last one there was.
alter table reconciliation_report add column is_full boolean not null default true;
alter table reconciliation_report add column last_entry_id bigint;
