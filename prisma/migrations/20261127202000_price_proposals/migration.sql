-- Prices that a public list proposes, put into the book by one step and taken back by another.
--
-- A price that was in force and is taken back stays for the charges that name it, and is withdrawn: those before it hold again. Processes
-- of the version before do not read the mark and go on with the withdrawn price: undo when every process is new.
alter table price
  add column proposal_id text,
  add column withdrawn_at timestamptz;
create index price_of_proposal on price (proposal_id) where proposal_id is not null;

create table price_proposal (
  id text primary key,
  source text not null,
  -- The address, the upstream, or "file".
  origin text not null,
  sha256 text not null,
  factor_millionths bigint not null check (factor_millionths > 0),
  -- "cent", or a number of digits.
  rounding text,
  -- Null: the moment at which it is applied.
  effective_from timestamptz,
  counts jsonb not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  expires_at timestamptz not null,
  applied_at timestamptz,
  applied_by text,
  -- What undoing needs: the prices that were changed as they were, and the marks of the models as they are since.
  applied jsonb,
  undone_at timestamptz,
  undone_by text
);
create table price_proposal_item (
  proposal_id text not null references price_proposal (id) on delete cascade,
  position integer not null,
  id text not null,
  model text,
  -- Of the model's prices when the proposal was made.
  book_mark text,
  item jsonb not null,
  primary key (proposal_id, position)
);

-- Which of our models an entry of a list is, where an operator said so; null: none.
create table price_name (
  source text not null,
  list_id text not null,
  model text,
  created_at timestamptz not null default now(),
  created_by text not null,
  primary key (source, list_id)
);
