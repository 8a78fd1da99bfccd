-- The sessions of a key, of which the oldest ends when there are too many.
drop index concurrently if exists console_session_of_key;
create index concurrently console_session_of_key on console_session (api_key_id) where api_key_id is not null;
