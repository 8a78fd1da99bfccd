-- Files of accounts. A row comes before the bytes, so that bytes without a ready row can be found and removed:
-- `expires_at` says when an upload is taken for abandoned, when a ready file ends, and since when a deleted one is removable.
create table uploaded_file (
  id text primary key,
  account_id text not null references account (id),
  api_key_id text not null references api_key (id),
  filename text not null,
  purpose text not null,
  content_type text not null,
  bytes bigint not null default 0,
  sha256 text,
  store_key text not null,
  state text not null default 'uploading',
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  constraint uploaded_file_state check (state in ('uploading', 'ready', 'deleted')),
  constraint uploaded_file_ends check (state = 'ready' or expires_at is not null)
);
create index uploaded_file_of_account on uploaded_file (account_id, id) where state = 'ready';
create index uploaded_file_expiring on uploaded_file (expires_at) where expires_at is not null;

-- What the ready files of an account come to. Changes in the transaction of their state.
create table file_usage (
  account_id text primary key references account (id),
  files bigint not null default 0,
  bytes bigint not null default 0,
  constraint file_usage_not_negative check (files >= 0 and bytes >= 0)
);

-- The passages of a file, cut one way; vector stores share it. The row is the job that makes them.
create table file_index (
  id bigint generated always as identity primary key,
  file_id text not null references uploaded_file (id),
  account_id text not null,
  chunk_tokens integer not null,
  overlap_tokens integer not null,
  state text not null default 'waiting',
  error_code text,
  error_message text,
  attempt integer not null default 0,
  due_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  -- Whose stemmer its terms went through; null: none.
  language text,
  -- Terms of each passage, two bytes each, in the order of the passages.
  lengths bytea,
  terms bigint not null default 0,
  stored_bytes bigint not null default 0,
  embedding_model text,
  constraint file_index_state check (state in ('waiting', 'working', 'completed', 'failed')),
  constraint file_index_cut_once unique (file_id, chunk_tokens, overlap_tokens)
);
create index file_index_due on file_index (due_at) where state in ('waiting', 'working');
create index file_index_of_account on file_index (account_id, state);

create table file_passage (
  index_id bigint not null references file_index (id) on delete cascade,
  nth integer not null,
  text text not null,
  -- Characters (UTF-16) of the text of the file.
  start_at integer not null,
  end_at integer not null,
  page integer,
  -- The signs of its vector, and the vector itself as 32-bit numbers.
  signature bit varying,
  embedding bytea,
  primary key (index_id, nth)
);

-- In which passages of an index a term stands: for each four bytes, its number times 256 and how often (at most 255).
create table file_term (
  account_id text not null,
  term text not null,
  index_id bigint not null references file_index (id) on delete cascade,
  postings bytea not null,
  primary key (account_id, term, index_id)
);
create index file_term_of_index on file_term (index_id);

create table vector_store (
  id text primary key,
  account_id text not null references account (id),
  name text,
  description text,
  metadata jsonb not null default '{}',
  -- Days without use after which it ends; null: never.
  expires_after_days integer,
  last_active_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  expires_at timestamptz
);
create index vector_store_of_account on vector_store (account_id, id);
create index vector_store_expiring on vector_store (expires_at) where expires_at is not null;

create table file_batch (
  id text primary key,
  vector_store_id text not null references vector_store (id) on delete cascade,
  created_at timestamptz not null default now(),
  cancelled_at timestamptz
);
create index file_batch_of_store on file_batch (vector_store_id);

create table vector_store_file (
  vector_store_id text not null references vector_store (id) on delete cascade,
  file_id text not null references uploaded_file (id),
  index_id bigint not null references file_index (id),
  batch_id text references file_batch (id),
  attributes jsonb not null default '{}',
  created_at timestamptz not null default now(),
  cancelled_at timestamptz,
  primary key (vector_store_id, file_id)
);
create index vector_store_file_of_file on vector_store_file (file_id);
create index vector_store_file_of_index on vector_store_file (index_id);
create index vector_store_file_of_batch on vector_store_file (batch_id) where batch_id is not null;
