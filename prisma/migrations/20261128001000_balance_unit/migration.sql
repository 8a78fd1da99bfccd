-- The unit of balances that the entries of the ledger are in: one row. A start with another unit would give every balance another worth.
create table balance_unit (
  is_only boolean primary key default true,
  unit text not null,
  constraint balance_unit_only check (is_only)
);
