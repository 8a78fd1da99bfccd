-- How many bytes of inline files are kept of a failed task, for whoever sends it again; null: none. Those of tasks that failed
-- before go with the rest of their contents.
alter table task add column long_bytes bigint;
