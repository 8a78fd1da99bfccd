-- Vectors are made in turns of the accounts, and of the files of each. The number of the turn is the guard of what it writes;
-- "vector_attempt" counts the turns that have failed since one went well, the one under way included.
alter table file_index add column vector_turn integer not null default 0;
create index file_index_vector_turns on file_index (account_id, vector_due_at)
  where state = 'completed' and embedding_model is null;
drop index file_index_without_vectors;
