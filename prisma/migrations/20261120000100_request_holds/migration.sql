-- Open holds of requests that answer at once (text). A row goes when its money is settled; one that outlives its
-- request belongs to a process that died, and is released by a sweep.
create table request_hold (
  request_id text primary key,
  account_id text not null references account (id),
  api_key_id text not null references api_key (id),
  amount_micros bigint not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint request_hold_positive check (amount_micros >= 0)
) with (fillfactor = 70);
create index request_hold_expiring on request_hold (expires_at);

-- A request may turn out dearer than its hold: the part beyond it is an entry of its own, once for each request.
alter table ledger_entry drop constraint ledger_books_fit_kind;
alter table ledger_entry add constraint ledger_books_fit_kind check (
  (kind = 'top_up' and debit = 'funding' and credit = 'available') or
  (kind = 'hold' and debit = 'available' and credit = 'held') or
  (kind = 'capture' and debit = 'held' and credit = 'revenue') or
  (kind = 'overrun' and debit = 'available' and credit = 'revenue') or
  (kind = 'release' and debit = 'held' and credit = 'available') or
  (kind = 'adjustment' and debit = 'funding' and credit = 'available') or
  (kind = 'adjustment' and debit = 'available' and credit = 'funding'));
create unique index ledger_one_overrun_per_request on ledger_entry (request_id) where kind = 'overrun';
