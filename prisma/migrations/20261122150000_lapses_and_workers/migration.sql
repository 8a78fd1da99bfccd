-- Attempts that ended without a word: the process died while it worked on the task. A task whose attempts end so is run
-- alone, so that it takes nobody along, and is given up when that does not help.
alter table task add column lapses smallint not null default 0;
alter table task add column sudden_lapses smallint not null default 0;
alter table task add column step_began_at timestamptz;
alter table task add column step_renewed_at timestamptz;
alter table task add column running_at timestamptz;
comment on column task.lapses is 'Attempts at the present step that ended without a word.';
comment on column task.sudden_lapses is 'Those of them that ended before their lease was renewed once.';
comment on column task.step_began_at is 'When the worker that holds the lease began to work on it; null while it only keeps it.';
comment on column task.step_renewed_at is 'When that lease was last renewed; null: not yet.';
comment on column task.running_at is 'When the vendor took the order.';
create index task_suspect on task (medium, lease_until) where lapses > 0 and lease_until is not null;
create index task_needs_attention on task (finished_at desc) where error_code in ('parked', 'processing_crashed');

-- Worker processes and when they were last heard of. A row that is not renewed is of a process that died.
create table worker (
  id text primary key,
  role text not null,
  version text not null,
  host text not null,
  pid integer not null,
  concurrency integer,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  stopping_at timestamptz
);
create index worker_seen on worker (seen_at);

-- What went wrong on the way of a task, for operators; what goes well is told by the times in its row.
create table task_event (
  id bigint generated always as identity primary key,
  task_id text not null references task (id),
  attempt integer not null,
  kind text not null,
  worker text,
  detail text,
  created_at timestamptz not null default now(),
  constraint task_event_kind_known check (kind in ('lapsed', 'retried', 'requeued', 'unconfirmed'))
);
create index task_event_of_task on task_event (task_id, id);
