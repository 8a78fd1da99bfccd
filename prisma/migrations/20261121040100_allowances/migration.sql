-- An allowance is money that a process holds for a busy key, to hand out to its requests without asking the database for
-- each. It stands among the holds under an id of its own; the captures of its requests name it.
alter table request_hold add column is_allowance boolean not null default false;
alter table ledger_entry add column hold_id text;
comment on column ledger_entry.hold_id is 'The allowance that a capture was taken from; null for a hold of its own.';
