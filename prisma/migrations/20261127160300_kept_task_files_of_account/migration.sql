-- What is kept of an account, newest first, without a look at any other task.
drop index concurrently if exists task_with_kept_files;
create index concurrently task_with_kept_files on task (account_id, id desc) include (long_bytes) where long_bytes is not null;
