-- Which responses of an account go first when its room is full.
drop index concurrently if exists text_response_oldest;
create index concurrently text_response_oldest on text_response (account_id, expires_at, id) where kept_bytes is not null;
