-- What open tasks hold under a tag, without a look at any other task.
drop index concurrently if exists task_open_of_tags;
create index concurrently task_open_of_tags on task (account_id) where tags is not null and finished_at is null;
