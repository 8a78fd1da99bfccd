-- Vectors of passages, apart from their texts, so that looking through them reads nothing else: the signs in the row, the
-- numbers beside it. Where the database has pgvector, a column "vector" of its type is added when it is first needed.
create table passage_vector (
  index_id bigint not null references file_index (id) on delete cascade,
  nth integer not null,
  -- The signs of its vector, and the vector itself as 32-bit numbers, of length 1.
  signature bit varying,
  embedding bytea,
  primary key (index_id, nth)
);
alter table passage_vector alter column embedding set storage external;

-- "embedding_model" is the model whose vectors all passages have. These tell of the work on them: for which model, the
-- number of the attempt, and when the next is due.
alter table file_index add column vector_model text, add column vector_attempt integer not null default 0,
  add column vector_due_at timestamptz not null default now();
create index file_index_without_vectors on file_index (vector_due_at)
  where state = 'completed' and embedding_model is null;

-- Nothing ever filled these.
alter table file_passage drop column signature, drop column embedding;
