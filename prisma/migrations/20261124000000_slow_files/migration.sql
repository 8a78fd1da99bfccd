-- A file that took longer, or more memory, than one is read with beside others waits for a thread of its own, so that it
-- keeps no small file waiting.
alter table file_index add column is_slow boolean not null default false;
