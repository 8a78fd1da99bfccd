-- What a key is limited to; empty: everything.
alter table api_key add column scopes text[] not null default '{}';
