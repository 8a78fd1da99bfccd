-- Uploads that are under way and files whose removal is, by account: they count against what it may store.
create index uploaded_file_unready on uploaded_file (account_id) where state <> 'ready';

-- Whose a file is that somebody downloads by its link.
create index uploaded_file_of_key on uploaded_file (store_key);
