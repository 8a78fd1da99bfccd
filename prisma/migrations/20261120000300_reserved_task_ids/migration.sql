-- The id that the task of a repeatable submission gets, whoever of several attempts writes it.
alter table idempotency_record add column reserved_task_id text;
