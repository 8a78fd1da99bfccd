-- Passkeys of people: the public half alone, which opens nothing by itself.
create table passkey (
  id text primary key,
  user_id text not null references console_user (id),
  -- In base64url, as authenticators name it.
  credential_id text not null unique,
  public_key bytea not null,
  -- How often the authenticator has signed, where it counts.
  counter bigint not null default 0,
  transports text[] not null default '{}',
  name text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index passkey_of_user on passkey (user_id);

-- Challenges that were answered, so that no answer counts twice. Those that nobody answered are written nowhere.
create table used_challenge (
  challenge_hash bytea primary key,
  expires_at timestamptz not null
);
create index used_challenge_expiring on used_challenge (expires_at);

-- Who a person is to an identity provider. Written when an invitation is taken with it, and never otherwise.
create table console_identity (
  issuer text not null,
  subject text not null,
  user_id text not null references console_user (id),
  created_at timestamptz not null default now(),
  primary key (issuer, subject)
);
create index console_identity_of_user on console_identity (user_id);
