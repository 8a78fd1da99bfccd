-- Which orders of an account came to nothing by what it did itself, newest last, without a look at any other task.
drop index concurrently if exists task_for_nothing;
create index concurrently task_for_nothing on task (account_id, finished_at)
where state = 'cancelled' or (state = 'failed' and error_code in ('invalid_media', 'content_policy'));
