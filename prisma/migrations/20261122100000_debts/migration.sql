-- What a request cost beyond its hold, beyond the balance of its account and beyond the quota of its key is owed: a
-- debt is earned when it is made (owed to revenue), and paid from the next money there is (available to owed).
alter table account add column owed_micros bigint not null default 0;
alter table account add constraint account_owed_positive check (owed_micros >= 0);
comment on column account.owed_micros is 'Earned and not yet collected. While it is above zero the account can begin nothing that costs.';

alter table ledger_sum add column owed_micros bigint not null default 0;
alter table usage_record add column owed_micros bigint not null default 0;
comment on column usage_record.owed_micros is 'The part of amount_micros that could not be collected when the request ended.';

alter table ledger_entry drop constraint ledger_books_fit_kind;
alter table ledger_entry add constraint ledger_books_fit_kind check (
  (kind = 'top_up' and debit = 'funding' and credit = 'available') or
  (kind = 'hold' and debit = 'available' and credit = 'held') or
  (kind = 'capture' and debit = 'held' and credit = 'revenue') or
  (kind = 'overrun' and debit = 'available' and credit = 'revenue') or
  (kind = 'release' and debit = 'held' and credit = 'available') or
  (kind = 'debt' and debit = 'owed' and credit = 'revenue') or
  (kind = 'debt_payment' and debit = 'available' and credit = 'owed') or
  (kind = 'adjustment' and debit = 'funding' and credit = 'available') or
  (kind = 'adjustment' and debit = 'available' and credit = 'funding')) not valid;
alter table ledger_entry validate constraint ledger_books_fit_kind;
create unique index ledger_one_debt_per_request on ledger_entry (request_id) where kind = 'debt';

-- What an operator knows of the models of an upstream: the most output, the most input, tokens of a picture.
alter table upstream add column model_limits jsonb not null default '{}';
