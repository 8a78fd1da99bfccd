-- By which secret of its key a session was opened: it ends with that secret. Where the key was never rotated that is known.
alter table console_session add column key_hash bytea;

update console_session s set key_hash = k.key_hash from api_key k where k.id = s.api_key_id and k.previous_key_hash is null;
