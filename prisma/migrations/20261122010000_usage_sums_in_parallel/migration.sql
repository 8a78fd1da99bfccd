-- Sums of all accounts by model and key read some hundred thousand rows of a month: worth two processes, which Postgres
-- does not see in the few pages that such a range takes in the index.
alter table usage_daily set (parallel_workers = 2);
