-- What failed for one account, task or hold in a loop that serves them all. The loop passes over it until resumes_at, which
-- is further away after each failure. Rows stay for a while after their last pause, so that the next one is longer still.
create table paused_work (
  job text not null,
  subject_id text not null check (length(subject_id) <= 200),
  failures integer not null check (failures > 0),
  reason text not null,
  failed_at timestamptz not null default now(),
  resumes_at timestamptz not null,
  primary key (job, subject_id)
);
create index paused_work_by_resumption on paused_work (resumes_at);

-- The end of a task that was written without its webhooks, because they could not be.
alter table task_event drop constraint task_event_kind_known;
alter table task_event add constraint task_event_kind_known
  check (kind in ('lapsed', 'retried', 'requeued', 'unconfirmed', 'unannounced')) not valid;
