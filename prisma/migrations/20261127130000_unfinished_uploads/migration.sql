-- Uploads that are under way and files whose removal is, by account: they count against what it may store.
create index uploaded_file_unready on uploaded_file (account_id) where state <> 'ready';
