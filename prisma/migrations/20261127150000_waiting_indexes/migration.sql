-- Steps from one account with files that wait to the next.
create index file_index_turns on file_index (is_slow, account_id, due_at) where state in ('waiting', 'working');
drop index file_index_due;

-- An index of no file is one that nothing finds any more: its place is free, and its rows are removed piece by piece.
alter table file_index alter column file_id drop not null;
create index file_index_forgotten on file_index (account_id, id) where file_id is null;
