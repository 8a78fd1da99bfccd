-- People who use the console. Of everything that opens something only a hash is kept.
create table console_user (
  id text primary key,
  name text not null,
  -- In lower case.
  email text unique,
  -- As libs/features/src/people/password.ts writes it.
  password_hash text,
  operator_role text,
  created_at timestamptz not null default now(),
  seen_at timestamptz,
  disabled_at timestamptz,
  constraint console_user_operator_role check (operator_role in ('ops_viewer', 'operator'))
);

create table membership (
  user_id text not null references console_user (id),
  account_id text not null references account (id),
  role text not null,
  created_at timestamptz not null default now(),
  primary key (user_id, account_id),
  constraint membership_role check (role in ('viewer', 'developer', 'finance', 'owner'))
);
create index membership_of_account on membership (account_id);

-- A session belongs to a user, to the holder of a key, or to an operator who has the token of the role.
create table console_session (
  id text primary key,
  token_hash bytea not null unique,
  method text not null,
  user_id text references console_user (id),
  account_id text references account (id),
  api_key_id text references api_key (id),
  operator_role text,
  -- Tells whether the token of the operator was changed since.
  operator_check bytea,
  address text,
  agent text,
  created_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  proved_at timestamptz,
  expires_at timestamptz not null,
  constraint console_session_owner check (num_nonnulls(user_id, api_key_id, operator_role) = 1)
);
create index console_session_of_user on console_session (user_id) where user_id is not null;
create index console_session_expiring on console_session (expires_at);

-- Signs a user in once.
create table one_time_link (
  code_hash bytea primary key,
  user_id text not null references console_user (id),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index one_time_link_expiring on one_time_link (expires_at);

-- Without an account it invites an operator.
create table invitation (
  id text primary key,
  code_hash bytea not null unique,
  account_id text references account (id),
  role text not null,
  email text,
  invited_by text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint invitation_role check (case when account_id is null then role in ('ops_viewer', 'operator')
    else role in ('viewer', 'developer', 'finance', 'owner') end)
);
create index invitation_of_account on invitation (account_id);
create index invitation_expiring on invitation (expires_at);

-- What a run of the console is charged to: one key for each account, which has no secret that anybody knows.
alter table api_key add column kind text not null default 'api';
alter table api_key add constraint api_key_kind check (kind in ('api', 'console')) not valid;
alter table api_key add column created_by text references console_user (id);
create unique index api_key_of_console on api_key (account_id) where kind = 'console';

-- The owner of many tasks looks for those of a model or with an outcome. Written once, when a task ends.
create index task_ended_of_account_model on task (account_id, model, id desc) where finished_at is not null;
create index task_ended_of_account_state on task (account_id, state, id desc) where finished_at is not null;
