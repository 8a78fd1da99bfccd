-- Long texts of what a task asks for, inline files above all, in pieces. In the row they would be read with it each time
-- the task is claimed, all at once. They are written before the row, in its transaction.
create table task_long_text (
  task_id text not null references task (id) deferrable initially deferred,
  nth integer not null,
  place integer not null,
  piece text not null,
  primary key (task_id, nth, place)
);
-- Files are packed already, or as good as random in base64.
alter table task_long_text alter column piece set storage external;
